#pragma once
// What ld.so would do with a file, computed from files alone: ld.so(8), glibc elf/dl-load.c and dl-lookup.c.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/elf/image.hpp"

namespace dcuop::elf {

/// What is known before the file is opened.
struct LoaderContext {
  std::vector<std::filesystem::path> preload;      ///< LD_PRELOAD: loaded already, as are its dependencies
  std::vector<std::filesystem::path> library_path; ///< LD_LIBRARY_PATH
  /// Files that the process has loaded already, in order (the interpreter first, torch's libraries): they and
  /// their dependencies satisfy a DT_NEEDED by SONAME before any search.
  std::vector<std::filesystem::path> already_loaded;
  /// The tree that absolute paths are of, those of an RPATH and of a link too; what is found is named by where it
  /// really lies. A file outside of it keeps its own $ORIGIN.
  std::filesystem::path root = "/";
};

/// How a name was found.
enum class FoundBy {
  already_loaded,
  rpath,
  library_path,
  runpath,
  cache,
  default_directory,
  path,
  not_found
};
[[nodiscard]] std::string to_string(FoundBy found_by);

struct Library {
  std::string name;           ///< as DT_NEEDED says
  std::filesystem::path path; ///< empty when not found
  FoundBy found_by = FoundBy::not_found;
  std::filesystem::path wanted_by;   ///< the first file that needs it
  std::vector<std::string> rejected; ///< candidates that were passed over: "path: wrong ELF class"
  std::string problem; ///< what loading it would die of ("invalid ELF header"); empty when nothing is seen
};

/// The closure in load order (breadth first, as ld.so builds its scope), the file itself not included.
struct Closure {
  std::vector<Library> libraries;
  [[nodiscard]] bool complete() const; ///< everything found, and without a problem
};
[[nodiscard]] Closure resolve_closure(const Image& image, const LoaderContext& context);

/// An undefined symbol of `image` that nothing in scope defines (weak ones excepted), or whose version node
/// is missing from the library that must have it.
struct Unbound {
  Symbol symbol;
  /// A library that defines the name with another version, or with none at all though the reference names
  /// that very library (ld.so then dies of an assertion in check_match); else empty.
  std::filesystem::path wrong_version_in;
};
/// `scope`: the images in lookup order (already loaded, then the closure), `image` itself not needed. Binds
/// as RTLD_NOW does.
[[nodiscard]] std::vector<Unbound> unbound_symbols(const Image& image,
                                                   const std::vector<const Image*>& scope);

/// Whether ld.so looks the symbol up for the image (DT_RELA, DT_JMPREL): a call that was bound when the image was linked
/// has no such relocation, and stays with its own definition.
[[nodiscard]] bool has_relocation_against(const Image& image, std::string_view symbol);

} // namespace dcuop::elf

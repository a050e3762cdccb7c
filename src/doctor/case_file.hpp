#pragma once
// What the checks look at: the file, the process that would load it, and what of both was read so far.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/elf/bundle.hpp"
#include "dcuop/elf/image.hpp"
#include "dcuop/elf/loader.hpp"

namespace dcuop::doctor {

/// Images by real path, each read once.
class ImagePool {
 public:
  /// `root`: the links of files below it are followed inside it.
  explicit ImagePool(std::filesystem::path root) : root_(std::move(root)) {}
  /// nullptr when it cannot be read; problem_of() says why. Valid as long as the pool.
  const elf::Image* read(const std::filesystem::path& path);
  [[nodiscard]] std::string problem_of(const std::filesystem::path& path) const;

 private:
  [[nodiscard]] std::string key_of(const std::filesystem::path& path) const;

  std::filesystem::path root_;
  std::map<std::string, std::unique_ptr<elf::Image>> images_;
  std::map<std::string, std::string> problems_;
};

/// A library of torch's in whose place the loader takes another file.
struct Shadow {
  std::filesystem::path own, taken;
  elf::FoundBy found_by = elf::FoundBy::not_found;
};

/// What a process holds before the file is opened.
struct Process {
  std::vector<std::filesystem::path> interpreter; ///< the executable and its closure, in load order
  std::vector<std::filesystem::path>
      torch; ///< torch's libraries and their closure; empty unless the file uses torch
  std::vector<const elf::Image*> global;       ///< visible to everyone (RTLD_GLOBAL)
  std::vector<const elf::Image*> torch_images; ///< of `torch`
  std::vector<Shadow> shadows;
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
};

/// An image that this load brings in, with what stays unbound of it.
struct Newcomer {
  const elf::Image* image = nullptr;
  std::vector<elf::Unbound> unbound;
};

struct CaseFile {
  CaseFile(const Question& asked, const EnvironmentFacts& known, const probe::Machine& here);

  const Question& question;
  const EnvironmentFacts& facts;
  const probe::Machine& machine;

  // Known from the start.
  std::filesystem::path process_root; ///< the tree that a process would load its files from
  std::string file_name;
  std::filesystem::path path; ///< absolute
  elf::Identity identity, interpreter;
  const elf::Image* image = nullptr;
  std::string image_problem; ///< why `image` is absent though the file is an ELF file of this machine

  // Known after trace_load().
  bool uses_torch = false;
  Process process;
  elf::Closure closure;
  std::vector<const elf::Image*> scope; ///< in lookup order, the file itself included
  std::vector<Newcomer> newcomers;      ///< the file first
  elf::DeviceCode device_code;

  ImagePool pool;

  /// Resolves and binds as the loader would. Needs `image`.
  void trace_load();

  [[nodiscard]] std::vector<const elf::Library*> missing() const;
  /// "libc10.so of torch 2.4.1 hip 6.1" for what belongs to torch, else the path.
  [[nodiscard]] std::string described(const std::filesystem::path& library) const;
  /// "affine.so -> libfoo.so.1 -> libbar.so.2".
  [[nodiscard]] std::string chain_to(const elf::Library& library) const;
  [[nodiscard]] elf::LoaderContext loader_context(std::vector<std::filesystem::path> already_loaded) const;
  [[nodiscard]] const elf::Image*
  provider_of(const std::string& soname) const; ///< in the process or the closure

  /// What the process would hold had torch been imported, for a file that does not use it. Needs facts.torch.
  [[nodiscard]] Process process_with_torch();

  /// A finding about the file: {file} is its name.
  [[nodiscard]] finding::Finding finding(std::string_view rule, finding::Values values = {}) const;
  /// How to build it again.
  void fix_by_building(finding::Finding& finding, const std::string& options = {}) const;

 private:
  void trace_interpreter();
  void trace_torch(const probe::Torch& torch);
  void note_shadows(const probe::Torch& torch, const elf::Closure& brought);
  void trace_process();
  void bind();
  void look_into_saved_machine(std::vector<std::filesystem::path>& library_path) const;
};

/// The real path, or the path itself when it cannot be resolved.
[[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

} // namespace dcuop::doctor

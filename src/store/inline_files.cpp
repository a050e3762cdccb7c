// Sources that came as text: a directory for each set of files, named by what is in them.

#include <fcntl.h>
#include <sys/stat.h>

#include "dcuop/store/store.hpp"
#include "dcuop/support/files.hpp"
#include "layout.hpp"

namespace dcuop::store {

fs::path Store::place_files(const std::map<std::string, std::string>& files) {
  Hasher hasher;
  for (const auto& [name, text] : files) {
    hasher.text("name", name);
    hasher.text("text", text);
  }
  const fs::path directory = Layout(root_).inline_files() / hasher.finish().hex();
  // What is used now is not a leftover, although it is no entry's origin before it is built.
  const auto stamp = [&directory] { (void)::utimensat(AT_FDCWD, directory.c_str(), nullptr, 0); };
  stamp();
  for (const auto& [name, text] : files) {
    if (read_file(directory / name) != text) {
      require_writable();
      make_directories((directory / name).parent_path(), directory_mode);
      // Others may be placing the same bytes, or compiling them.
      write_file_atomic(directory / name, text);
    }
  }
  stamp();
  return directory;
}

} // namespace dcuop::store

#include "dcuop/support/temporary_directory.hpp"

#include <cstdlib>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop {

fs::path make_temporary_directory(const Environment& environment) {
  for (const std::string& parent :
       {environment.get_nonempty("TMPDIR").value_or("/tmp"), std::string("/tmp"), std::string("/var/tmp")}) {
    std::string pattern = parent + "/dcuop-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) {
      return pattern;
    }
  }
  throw Error(ExitCode::environment, "cannot make a temporary directory in $TMPDIR, /tmp or /var/tmp",
              "set TMPDIR to a directory that is writable and has space");
}

TemporaryDirectory::~TemporaryDirectory() {
  remove_tree(path_);
}

} // namespace dcuop

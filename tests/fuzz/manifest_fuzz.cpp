// dcuop.toml of an op and of a workspace, in a directory with files that it may name.

#include <fstream>

#include "dcuop/op/manifest.hpp"
#include "dcuop/support/environment.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/temporary_directory.hpp"

#include "fuzz.hpp"

namespace {

using namespace dcuop;

class OpDirectory {
 public:
  OpDirectory() : directory_(Environment()) {
    std::filesystem::create_directories(directory_.path() / "src/include");
    std::filesystem::create_directories(directory_.path() / "ops/one");
    for (const char* name :
         {"op.hip", "op.cu", "src/binding.cpp", "src/include/op.h", "ops/one/dcuop.toml"}) {
      std::ofstream(directory_.path() / name) << "";
    }
    std::ofstream(directory_.path() / "flags.rsp") << "-O2 '-DNAME=a b' @flags.rsp";
    std::filesystem::create_symlink(input_.path(), manifest());
  }
  [[nodiscard]] std::filesystem::path manifest() const { return directory_.path() / "dcuop.toml"; }
  void write(std::string_view text) const { input_.write(text); }
  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  fuzz::InputFile input_;
  TemporaryDirectory directory_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const OpDirectory directory;
  directory.write(fuzz::text_of(data, size));
  for (const op::Backend backend : op::all_backends()) {
    try {
      const op::Op op = op::read_op(directory.manifest(), backend);
      fuzz::require(!op.name.empty() && !op.sources.empty(), "an op has a name and sources");
      fuzz::require(op.backend == backend && (backend == op::Backend::hip || !op.has_hip()),
                    "HIP is for HIP alone");
    } catch (const Error&) {
      // What is wrong with it.
    }
  }
  try {
    static_cast<void>(op::find_workspace(directory.path()));
  } catch (const Error&) {
    // What is wrong with it.
  }
  return 0;
}

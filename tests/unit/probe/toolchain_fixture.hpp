#pragma once
// A machine made of a temporary directory, and a HIP installation in it whose hipcc only reports.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "dcuop/probe/machine.hpp"
#include "dcuop/probe/toolchain.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::probe {

class ToolchainFixture : public testing::Test {
 private:
  static fs::path new_directory() {
    auto pattern = (fs::temp_directory_path() / "dcuop test XXXXXX").string();
    return ::mkdtemp(pattern.data());
  }

 protected:
  ToolchainFixture() {
    environment_.set("PATH", "/usr/bin:/bin");
    environment_.set("TMPDIR", directory_.string());
  }
  ~ToolchainFixture() override { remove_tree(directory_); }

  void write(const fs::path& name, const std::string& content, bool executable = false) {
    const auto path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    if (executable) {
      fs::permissions(path, fs::perms::owner_all);
    }
  }

  /// A wrapper in bin/ that runs a second script, which prints reports/compile or reports/link.
  void install_fake_hip(const fs::path& root = "rocm") {
    write(root / "bin/hipcc",
          "#!/bin/sh\n# not a helper: notes.sh\nexec sh \"$(dirname \"$0\")/hipcc.sh\" \"$@\"\n", true);
    write(root / "bin/hipcc.sh", "here=$(dirname \"$0\")\n. \"$here/hipvars.sh\"\nreport=link\n"
                                 "for word do case $word in -c) report=compile;; esac; done\n"
                                 "cat \"$here/../reports/$report\" >&2\nexit \"$status\"\n");
    write(root / "bin/hipvars.sh", "status=0\n");
    write(root / "bin/notes.sh", "never run\n");
    write(root / "bin/.hipVersion", "HIP_VERSION_MAJOR=5\nHIP_VERSION_MINOR=2\nHIP_VERSION_PATCH=21153\n");
    for (const auto* tool : {"clang", "clang++", "lld", "clang-offload-bundler"}) {
      write(root / "llvm/bin" / tool, std::string("program ") + tool, true);
    }
    write(root / "bitcode/ocml.bc", "BC ocml");
    write(root / "bitcode/oclc_isa_version_906.bc", "BC 906");
    const auto at = (directory_ / root).string();
    const auto cc1 = " \"" + at + "/llvm/bin/clang\" \"-cc1\" \"-triple\" ";
    write(root / "reports/compile",
          "HCC clang version 15.0.0\nTarget: x86_64-unknown-linux-gnu\nInstalledDir: " + at + "/llvm/bin\n" +
              cc1 + "\"amdgcn-amd-amdhsa\" \"-fcuda-is-device\" \"-mlink-builtin-bitcode\" \"" + at +
              "/bitcode/ocml.bc\" \"-mlink-builtin-bitcode\" \"" + at +
              "/bitcode/oclc_isa_version_906.bc\"\n \"" + at + "/llvm/bin/lld\" \"-flavor\" \"gnu\"\n \"" +
              at + "/llvm/bin/clang-offload-bundler\" \"-type=o\"\n" + cc1 +
              "\"x86_64-unknown-linux-gnu\" \"-target-cpu\" \"x86-64\" \"-resource-dir\" \"" + at +
              "/llvm/lib/clang/15.0.0\"\n");
    write(root / "reports/link",
          "HCC clang version 15.0.0\n \"" + at + "/llvm/bin/lld\" \"-flavor\" \"gnu\"\n");
  }

  [[nodiscard]] Machine machine() { return {processes_, environment_, memos_, directory_, root_}; }
  [[nodiscard]] Environment scrubbed() const { return compile_environment(environment_, directory_); }
  [[nodiscard]] Compiler fake_hipcc() {
    Compiler compiler;
    compiler.program = directory_ / "rocm/bin/hipcc";
    compiler.hip_version = "5.2.21153";
    return compiler;
  }

  fs::path directory_ = new_directory();
  fs::path root_ = "/";
  Environment environment_;
  SystemProcessRunner processes_;
  MemoStore memos_{directory_ / "memos"};
};

} // namespace dcuop::probe

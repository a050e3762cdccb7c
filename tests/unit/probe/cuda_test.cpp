#include "dcuop/probe/cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/support/error.hpp"
#include "probe/fake_machine.hpp"

namespace dcuop::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make_executable;
using testing::printed;
using ::testing::SizeIs;
using testing::write;

class CudaTest : public testing::MachineTest {
 protected:
  void install(const fs::path& program) {
    write(program, "");
    make_executable(program);
  }
  void install_smi(const std::string& output, int exit_code = 0) {
    install(directory.path() / "bin/nvidia-smi");
    environment.set("PATH", (directory.path() / "bin").string());
    runner.reply = [=](const Command&) { return printed(output, exit_code); };
  }
  Error error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error;
    }
    return {ExitCode::ok, "no error"};
  }
};

// What nvcc 13.0.88 says, with the paths of the test in the place of its own.
std::string dryrun_of(const std::string& root) {
  return "#$ _NVVM_BRANCH_=nvvm\n#$ _SPACE_= \n#$ _HERE_=" + root + "/bin\n#$ TOP=" + root +
         "/bin/..\n#$ CICC_PATH=" + root + "/bin/../nvvm/bin\n#$ NVVMIR_LIBRARY_DIR=" + root +
         "/bin/../nvvm/libdevice\n#$ LD_LIBRARY_PATH=" + root + "/bin/../lib:\n#$ PATH=" + root +
         "/bin/../nvvm/bin:" + root + "/bin:/usr/bin\n#$ INCLUDES=\"-I" + root +
         "/bin/../targets/x86_64-linux/include\"  \n#$ SYSTEM_INCLUDES=\"-isystem\" \"" + root +
         "/bin/../targets/x86_64-linux/include/cccl\"  \n#$ LIBRARIES=  \"-L" + root +
         "/bin/../targets/x86_64-linux/lib/stubs\" \"-L" + root +
         "/bin/../targets/x86_64-linux/lib\"\n#$ \"/usr/bin\"/c++ -D__CUDA_ARCH_LIST__=900 -E -x c++ "
         "-D__CUDACC__ "
         "-D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0 -D__CUDACC_VER_BUILD__=88 \"unit.cu\"\n#$ "
         "cudafe++ --c++17 "
         "\"unit.ii\"\n#$ \"$CICC_PATH/cicc\" --c++17 \"unit.ii\"\n#$ ptxas -arch=sm_90 \"unit.ptx\"\n#$ "
         "fatbinary -64\n#$ rm "
         "unit.fatbin\n#$ \"/usr/bin\"/c++ -c -x c++ \"unit.cpp\"\n";
}

TEST_F(CudaTest, NvccSaysWhatIsAroundIt) {
  const fs::path cuda_root = root / "cuda";
  install(cuda_root / "bin/nvcc");
  write(cuda_root / "targets/x86_64-linux/lib/libcudart.so", "");
  environment.set("CUDA_HOME", cuda_root.string());
  environment.set("NVCC_APPEND_FLAGS", "-lineinfo");
  runner.reply = [&](const Command& command) {
    return printed(command.argv.back() == "--list-gpu-code" ? "sm_75\nsm_90\n"
                                                            : dryrun_of(cuda_root.string()));
  };
  const Compiler host{"/usr/bin/c++", "CXX", Family::gcc, "12.2.0", "", "", ""};
  const CudaCompiler cuda = find_cuda_compiler(machine(), host);
  EXPECT_EQ(cuda.compiler.program, cuda_root / "bin/nvcc");
  EXPECT_EQ(cuda.compiler.origin, "CUDA_HOME");
  EXPECT_EQ(cuda.compiler.family, Family::nvcc);
  EXPECT_EQ(cuda.compiler.version, "13.0.88");
  EXPECT_THAT(cuda.include_dirs, ElementsAre(cuda_root / "targets/x86_64-linux/include",
                                             cuda_root / "targets/x86_64-linux/include/cccl"));
  EXPECT_EQ(cuda.library_dir, cuda_root / "targets/x86_64-linux/lib") << "not the stubs";
  EXPECT_THAT(cuda.archs, ElementsAre("sm_75", "sm_90"));
  EXPECT_THAT(runner.commands, SizeIs(2));
  EXPECT_EQ(runner.commands[0].environment.get("NVCC_APPEND_FLAGS"), "-lineinfo");
  EXPECT_EQ(find_cuda_compiler(machine(), host).compiler.version, "13.0.88");
  EXPECT_THAT(runner.commands, SizeIs(2)) << "it was remembered";
}

TEST_F(CudaTest, AnNvccThatDoesNotAnswerIsNoCompiler) {
  install(directory.path() / "nvcc");
  environment.set("DCUOP_NVCC", (directory.path() / "nvcc").string());
  runner.reply = [](const Command&) {
    ProcessResult result = printed("", 1);
    result.diagnostics = "nvcc fatal   : Host compiler targets unsupported OS.\n";
    return result;
  };
  const Error error = error_of([&] { (void)find_cuda_compiler(machine(), {}); });
  EXPECT_EQ(error.code, ExitCode::environment);
  EXPECT_THAT(error.what(), HasSubstr("does not answer --dryrun: nvcc fatal   : Host compiler targets"));
}

TEST_F(CudaTest, NvccIsLookedForInOneOrder) {
  environment.set("PATH", (directory.path() / "path").string());
  EXPECT_THAT(error_of([&] { (void)find_cuda_compiler(machine(), {}); }).what(),
              HasSubstr("no CUDA compiler: nvcc is not in PATH, /usr/local/cuda/bin"));
  environment.set("DCUOP_NVCC", "/nonexistent/nvcc");
  EXPECT_THAT(error_of([&] { (void)find_cuda_compiler(machine(), {}); }).what(),
              HasSubstr("DCUOP_NVCC=/nonexistent/nvcc is not a program that can be run"));
  environment.unset("DCUOP_NVCC");
  runner.reply = [&](const Command& command) {
    return printed(dryrun_of(fs::path(command.argv.front()).parent_path().parent_path().string()));
  };
  const auto origin = [&] { return find_cuda_compiler(machine(), {}).compiler.origin; };
  install(root / "usr/local/cuda/bin/nvcc");
  EXPECT_EQ(origin(), "/usr/local/cuda");
  install(directory.path() / "path/nvcc");
  EXPECT_EQ(origin(), "nvcc on PATH");
  install(root / "b/bin/nvcc");
  environment.set("CUDA_PATH", (root / "b").string());
  EXPECT_EQ(origin(), "CUDA_PATH");
  install(root / "a/bin/nvcc");
  environment.set("CUDA_HOME", (root / "a").string());
  EXPECT_EQ(origin(), "CUDA_HOME");
  environment.set("DCUOP_NVCC", "nvcc");
  EXPECT_EQ(origin(), "DCUOP_NVCC");
}

TEST_F(CudaTest, ArchsAreSaidOrThoseOfTheVisibleDevices) {
  install_smi("9.0\n8.0\n9.0\n[N/A]\n");
  ArchSelection selection = select_cuda_archs(machine(), {});
  EXPECT_THAT(selection.archs, ElementsAre("sm_80", "sm_90"));
  EXPECT_EQ(selection.origin, "visible devices (nvidia-smi)");
  EXPECT_THAT(select_cuda_archs(machine(), {"native", "sm_75"}).archs,
              ElementsAre("sm_75", "sm_80", "sm_90"));
  environment.set("DCUOP_ARCH", "sm_90a;compute_90");
  environment.set("PYTORCH_ROCM_ARCH", "gfx906");
  selection = select_cuda_archs(machine(), {});
  EXPECT_THAT(selection.archs, ElementsAre("compute_90", "sm_90a"));
  EXPECT_EQ(selection.origin, "DCUOP_ARCH");
  selection = select_cuda_archs(machine(), {"sm_100"});
  EXPECT_THAT(selection.archs, ElementsAre("sm_100"));
  EXPECT_EQ(selection.origin, "--arch");
}

TEST_F(CudaTest, DevicesAreAskedOncePerDriver) {
  install_smi("9.0\n");
  write(root / "proc/driver/nvidia/version", "NVRM version: 570.1\n");
  write(root / "proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: H200\n");
  EXPECT_THAT(select_cuda_archs(machine(), {}).archs, ElementsAre("sm_90"));
  EXPECT_THAT(select_cuda_archs(machine(), {}).archs, ElementsAre("sm_90"));
  EXPECT_THAT(runner.commands, SizeIs(1));
  write(root / "proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: A100\n");
  runner.reply = [](const Command&) { return printed("9.0\n8.0\n"); };
  EXPECT_THAT(select_cuda_archs(machine(), {}).archs, ElementsAre("sm_80", "sm_90"));
}

TEST_F(CudaTest, WithoutADeviceNothingIsGuessed) {
  ArchSelection selection = select_cuda_archs(machine(), {});
  EXPECT_THAT(selection.archs, IsEmpty());
  EXPECT_EQ(selection.origin, "no --arch, no DCUOP_ARCH, no device visible (nvidia-smi is not on PATH)");
  install_smi("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", 9);
  EXPECT_THAT(select_cuda_archs(machine(), {}).origin,
              HasSubstr("nvidia-smi: NVIDIA-SMI has failed because"));
  install_smi("9.0\n");
  environment.set("CUDA_VISIBLE_DEVICES", "-1");
  EXPECT_THAT(select_cuda_archs(machine(), {}).origin, HasSubstr("CUDA_VISIBLE_DEVICES=-1 hides all"));
  const Error error = error_of([&] { (void)select_cuda_archs(machine(), {"native"}); });
  EXPECT_EQ(error.code, ExitCode::environment);
  EXPECT_THAT(error.what(), HasSubstr("'native' (--arch) means the visible devices"));
}

} // namespace
} // namespace dcuop::probe

#include "op/tree.hpp"

namespace dcuop::op {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FlagsTest : public TreeTest {
 protected:
  [[nodiscard]] std::filesystem::path manifest(const std::string& flags, const std::string& key) const {
    return write_op("affine", key + " = [" + flags + "]\n");
  }
  [[nodiscard]] std::vector<std::string> flags(const std::string& list) const {
    return read_op(manifest(list, "cxx_flags")).cxx_flags;
  }
  [[nodiscard]] std::string fault(const std::string& list, const std::string& key = "cxx_flags") const {
    const std::filesystem::path path = manifest(list, key);
    return fault_of([&] { static_cast<void>(read_op(path)); });
  }
};

TEST_F(FlagsTest, RefusesWhatLoadsCode) {
  for (const char* flag :
       {"-fplugin=x.so", "-fplugin-arg-x-y", "--fplugin=x", "-fpass-plugin=x.so", "-load", "-load=x.so",
        "-iplugindir=.", "-Xclang=-load", "-mllvm=-load=x.so", "-Wl,-plugin,x.so", "-Wl,--plugin=x.so",
        "-Wl,-O1,--load-pass-plugin=x.so", "-Wl,-plugin-opt=-load=x.so", "-Wp,-fplugin=x.so"}) {
    EXPECT_THAT(fault("\"-O2\", \"" + std::string(flag) + "\""), HasSubstr("loads code into the compiler"))
        << flag;
  }
  EXPECT_EQ(fault(R"("-Xclang", "-load", "-Xclang", "evil.so")"),
            "affine/dcuop.toml:3:25: error: '-load' in 'cxx_flags' in [build] loads code into the compiler | "
            "a manifest "
            "may not choose programs; flags that you trust can stand in your environment "
            "(HIPCC_COMPILE_FLAGS_APPEND, HIPCC_LINK_FLAGS_APPEND)");
  EXPECT_THAT(fault(R"("-mllvm", "-load=x.so")", "hip_flags"), HasSubstr("'-load=x.so' in 'hip_flags'"));
  EXPECT_THAT(fault(R"("-Xarch_device", "-fpass-plugin=x.so")", "hip_flags"), HasSubstr("loads code"));
  EXPECT_THAT(fault(R"("-Xlinker", "-plugin", "-Xlinker", "x.so")", "link_flags"), HasSubstr("'-plugin'"));
}

TEST_F(FlagsTest, RefusesWhatChoosesParts) {
  for (const char* flag :
       {"-B", "-B.", "-Bbin", "--prefix=bin", "-specs=x", "--specs=x", "-specs", "-fuse-ld=/tmp/ld",
        "-fuse-ld=./ld", "--ld-path=x", "-wrapper", "--config=x.cfg", "--config", "--gcc-toolchain=x",
        "-resource-dir", "-ccbin=x", "-Xcompiler=-O2,-Bx"}) {
    EXPECT_THAT(fault("\"" + std::string(flag) + "\""), HasSubstr("chooses the compiler's parts")) << flag;
  }
  EXPECT_THAT(fault(R"("-Bsymbolic")", "link_flags"), HasSubstr("for the linker write -Wl,-Bsymbolic"));
}

TEST_F(FlagsTest, RefusesWhatDcuopSets) {
  for (const char* flag :
       {"--offload-arch=gfx906", "--offload-arch", "--amdgpu-target=gfx906", "--cuda-gpu-arch=x"}) {
    EXPECT_THAT(fault("\"" + std::string(flag) + "\"", "hip_flags"),
                HasSubstr("list what the op supports in archs"))
        << flag;
  }
  for (const char* flag : {"-o", "-ofile", "--output=x", "-Wl,-o,x"}) {
    EXPECT_THAT(fault("\"" + std::string(flag) + "\""), HasSubstr("names the output, which dcuop sets"))
        << flag;
  }
  for (const char* flag : {"-c", "-S", "-E", "--compile", "-fsyntax-only"}) {
    EXPECT_THAT(fault("\"" + std::string(flag) + "\""), HasSubstr("says how far to compile")) << flag;
  }
  for (const char* flag : {"-M", "-MD", "-MMD", "-MF", "-MTx", "-Wp,-MD,dep", "-Wl,--dependency-file=x"}) {
    EXPECT_THAT(fault("\"" + std::string(flag) + "\""), HasSubstr("asks for a dependency file")) << flag;
  }
}

TEST_F(FlagsTest, KeepsOthersAsTheyAreAndInOrder) {
  EXPECT_THAT(
      flags(R"("-O3", "-fopenmp", "-fuse-ld=lld", "-include", "a b.h", "-mcmodel=large", "-Wl,-Map=x.map",
                       "-Wl,-Bsymbolic", "-Xlinker", "-M", "-march=native", "-DM", "-fprefetch-loop-arrays",
                       "-Xclang", "-mlink-builtin-bitcode", "-O3")"),
      ElementsAre("-O3", "-fopenmp", "-fuse-ld=lld", "-include", "a b.h", "-mcmodel=large", "-Wl,-Map=x.map",
                  "-Wl,-Bsymbolic", "-Xlinker", "-M", "-march=native", "-DM", "-fprefetch-loop-arrays",
                  "-Xclang", "-mlink-builtin-bitcode", "-O3"));
}

TEST_F(FlagsTest, ReplacesResponseFilesByWhatTheyHold) {
  write("affine/flags.txt", "-DA='x y'\n  @more.txt -g\n");
  write("affine/more.txt", "-DB\n");
  EXPECT_THAT(flags(R"("-O1", "@flags.txt", "-O2")"), ElementsAre("-O1", "-DA=x y", "-DB", "-g", "-O2"));
}

TEST_F(FlagsTest, LooksIntoResponseFiles) {
  write("affine/flags.txt", "-O2\n-Xclang -load -Xclang evil.so\n");
  EXPECT_THAT(fault(R"("-O1", "@flags.txt")"),
              StartsWith("affine/dcuop.toml:3:21: error: '-load' in 'cxx_flags'"));
  write("affine/endless.txt", "@endless.txt");
  EXPECT_THAT(fault(R"("@endless.txt")"), HasSubstr("without an end"));
  EXPECT_THAT(fault(R"("-Wl,@flags.txt")"),
              HasSubstr("names a response file where dcuop cannot look into it"));
  EXPECT_THAT(fault(R"("@gone.txt")"), HasSubstr("cannot be read (affine/gone.txt)"));
}

TEST_F(FlagsTest, ResponseFilesLieInTheWorkspace) {
  write("outside.txt", "-O2");
  EXPECT_THAT(fault(R"("@../outside.txt")"),
              HasSubstr("'@../outside.txt' in 'cxx_flags' in [build] is a response file "
                        "outside affine"));
  EXPECT_THAT(fault("\"@" + (top() / "outside.txt").string() + "\""),
              HasSubstr("is a response file outside affine"));
  write_op("affine");
  std::filesystem::create_symlink(top() / "outside.txt", top() / "affine/inside.txt");
  EXPECT_THAT(fault(R"("@inside.txt")"), HasSubstr("is a response file outside affine"));
  write("dcuop.toml", "[workspace]\nmembers = [\"affine\"]\n");
  EXPECT_THAT(flags(R"("@../outside.txt", "@inside.txt")"), ElementsAre("-O2", "-O2"));
}

TEST_F(FlagsTest, ResponseFilesOfDefaultsAreTakenFromTheRoot) {
  write("root.txt", "-DROOT");
  write("dcuop.toml", "[workspace]\nmembers = [\"affine\"]\n[defaults]\nhip_flags = [\"@root.txt\"]\n");
  EXPECT_THAT(read_op(write_op("affine")).hip_flags, ElementsAre("-DROOT"));
}

class CudaFlagsTest : public TreeTest {
 protected:
  [[nodiscard]] std::filesystem::path manifest(const std::string& flags) const {
    write("affine/k.cu");
    return write_op("affine", "[backend.cuda]\nsources = [\"k.cu\"]\narchs = [\"sm_90\"]\ncuda_flags = [" +
                                  flags + "]\n");
  }
  [[nodiscard]] std::string fault(const std::string& flag) const {
    const std::filesystem::path path = manifest("'" + flag + "'");
    return fault_of([&] { static_cast<void>(read_op(path, Backend::cuda)); });
  }
};

TEST_F(CudaFlagsTest, TakesNvccs) {
  EXPECT_THAT(read_op(manifest(R"("--use_fast_math", "-Xcompiler=-Wall,-fopenmp", "-DX=1", "-Xptxas", "-v")"),
                      Backend::cuda)
                  .cuda_flags,
              ElementsAre("--use_fast_math", "-Xcompiler=-Wall,-fopenmp", "-DX=1", "-Xptxas", "-v"));
}

TEST_F(CudaFlagsTest, RefusesWhatAShellWouldRun) {
  for (const char* flag : {"-DX=$(touch pwned)", "-DX=`id`", "-Xcompiler=-DX;id", "-Xptxas=-v|id", "-DX=a>b",
                           "-DX=a b", "-DX=\"x\"", "-DX=a\\b", "-I~/x"}) {
    EXPECT_THAT(fault(flag), HasSubstr("has a character that means something to a shell")) << flag;
  }
  EXPECT_THAT(fault("-DX=$(id)"),
              StartsWith("affine/dcuop.toml:6:15: error: '-DX=$(id)' in 'cuda_flags' in [backend.cuda]"));
}

TEST_F(CudaFlagsTest, RefusesAsForOtherCompilersAndMore) {
  for (const char* flag :
       {"-ccbin=x", "--compiler-bindir=x", "-optf=x", "-ldir=x", "--libdevice-directory=x", "-noprof",
        "-Xcompiler=-O2,-Bx", "--compiler-options=-specs=x", "-Xptxas=-v,-optf=x"}) {
    EXPECT_THAT(fault(flag), HasSubstr("chooses the compiler's parts")) << flag;
  }
  EXPECT_THAT(fault("-Xcompiler=-fplugin=x.so"), HasSubstr("loads code into the compiler"));
  for (const char* flag : {"-arch=sm_90", "-gencode=arch=compute_90", "--gpu-architecture=sm_90",
                           "-code=sm_90", "--gpu-code=x"}) {
    EXPECT_THAT(fault(flag), HasSubstr("chooses the offload arch, which dcuop sets")) << flag;
  }
  for (const char* flag : {"-ptx", "--cubin", "-E", "-c", "--run", "-clean"}) {
    EXPECT_THAT(fault(flag), HasSubstr("says how far to compile")) << flag;
  }
  for (const char* flag : {"-rdc=true", "-dc", "--relocatable-device-code=true", "-dlto"}) {
    EXPECT_THAT(fault(flag), HasSubstr("device code that has to be linked by itself")) << flag;
  }
  EXPECT_THAT(fault("-odir"), HasSubstr("names the output")) << "not of the others' -o alone";
  EXPECT_THAT(fault("-MMD"), HasSubstr("dependency file"));
}

} // namespace
} // namespace dcuop::op

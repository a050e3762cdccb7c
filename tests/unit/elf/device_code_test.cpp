#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/elf/bundle.hpp"

#include "built_files.hpp"
#include "made_bundles.hpp"

namespace dcuop::elf {
namespace {

using test::content_of;
using test::quoted;
using test::shared_object;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::IsEmpty;

std::string gfx936_bundle() {
  const auto metadata = test::metadata_of("amdgcn-amd-amdhsa--gfx936", {"k"});
  return test::bundle({{"host-x86_64-unknown-linux--", ""},
                       {"hipv4-amdgcn-amd-amdhsa--gfx936", test::code_object(test::as_msgpack(metadata))}});
}

/// A host library that embeds `fatbin` as clang does, and registers `units` translation units.
std::filesystem::path hip_library(const TemporaryDirectory& directory, const std::string& fatbin, int units) {
  const auto blob = directory.write("fatbin", fatbin);
  std::string code = "__asm__(\".section .hip_fatbin,\\\"a\\\",@progbits\\n.p2align 12\\n.incbin \\\"" +
                     blob.string() + "\\\"\\n.text\");\n" +
                     "struct wrapper { unsigned magic, version; void* data; void* unused; };\n";
  code += "struct wrapper units[" + std::to_string(units) +
          "] __attribute__((section(\".hipFatBinSegment\"))) = {";
  for (int i = 0; i < units; ++i) {
    code += "{0x48495046, 1, 0, 0}, ";
  }
  code += "};\n";
  return shared_object(directory, "libk.so", code);
}

TEST(ReadDeviceCode, ReadsTheFatbinSection) {
  const TemporaryDirectory directory;
  const std::string one = gfx936_bundle();
  const std::string packed = test::ccob(3, 1, test::zstd_of(one), one.size());
  const Image image = read_image(hip_library(directory, test::padded(one) + packed, 2));
  const DeviceCode code = read_device_code(image);
  EXPECT_TRUE(code.has_fatbin_section);
  EXPECT_FALSE(code.found_by_scan);
  EXPECT_FALSE(code.has_cuda_fatbin);
  EXPECT_FALSE(code.has_rdc_leftover);
  EXPECT_EQ(code.registered, 2U);
  ASSERT_EQ(code.bundles.size(), 2U);
  EXPECT_EQ(code.bundles[0].offset, image.section(".hip_fatbin")->offset);
  EXPECT_EQ(code.bundles[1].offset, code.bundles[0].offset + 8192);
  EXPECT_EQ(code.bundles[1].code_objects[1].kernels.at(0).name, "k");
  EXPECT_THAT(code.targets(), ElementsAre("gfx936"));
}

TEST(ReadDeviceCode, ScansAFileWithoutSectionHeaders) {
  const TemporaryDirectory directory;
  const std::string one = gfx936_bundle();
  const auto path = hip_library(directory,
                                test::padded(one) + test::padded("CCOB by chance") +
                                    test::ccob(2, 0, test::zlib_of(one), one.size()),
                                2);
  const DeviceCode whole = read_device_code(read_image(path));
  EXPECT_EQ(whole.bundles.size(), 3U); // the middle one is damage there
  const DeviceCode bare = read_device_code(
      read_image(directory.write("bare.so", test::without_section_headers(content_of(path)))));
  EXPECT_FALSE(bare.has_fatbin_section);
  EXPECT_TRUE(bare.found_by_scan);
  EXPECT_EQ(bare.registered, 0U);
  ASSERT_EQ(bare.bundles.size(), 2U);
  EXPECT_EQ(bare.bundles[0].offset, whole.bundles[0].offset);
  EXPECT_EQ(bare.bundles[1].offset, whole.bundles[2].offset);
  EXPECT_EQ(bare.bundles[1].problem, "");
}

TEST(ReadDeviceCode, SaysThatTheSectionIsCut) {
  const TemporaryDirectory directory;
  const auto path = hip_library(directory, gfx936_bundle(), 1);
  const Image whole = read_image(path);
  std::string bytes = content_of(path);
  const Section& section = *whole.section(".hip_fatbin");
  // The size in its section header, as if the file had once been longer.
  for (std::size_t i = 0; i <= whole.sections.size(); ++i) {
    const std::size_t at = bytes.size() - (whole.sections.size() + 1 - i) * sizeof(Elf64_Shdr);
    Elf64_Shdr header;
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    if (header.sh_offset == section.offset && header.sh_size == section.size) {
      test::patch(bytes, at + offsetof(Elf64_Shdr, sh_size), ~std::uint64_t{0});
    }
  }
  const DeviceCode code = read_device_code(read_image(directory.write("cut.so", bytes)));
  ASSERT_GE(code.bundles.size(), 2U);
  EXPECT_EQ(code.bundles.front().problem, "");
  EXPECT_NE(code.bundles.back().problem, "");
}

TEST(ReadDeviceCode, SeesCudaAndUnlinkedRdc) {
  const TemporaryDirectory directory;
  const DeviceCode code = read_device_code(
      read_image(shared_object(directory, "a.so",
                               "extern char __hip_fatbin_3b1c; const char* keep = &__hip_fatbin_3b1c;\n"
                               "__attribute__((section(\".nv_fatbin\"))) const int cuda = 1;\n")));
  EXPECT_TRUE(code.has_cuda_fatbin);
  EXPECT_TRUE(code.has_rdc_leftover);
  EXPECT_FALSE(code.has_fatbin_section);
  EXPECT_FALSE(code.found_by_scan);
  EXPECT_THAT(code.bundles, IsEmpty());
}

TEST(ReadDeviceCode, AgreesWithWhatHipccWasAsked) {
  const TemporaryDirectory directory;
  if (std::system("command -v hipcc >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no hipcc here";
  }
  const auto source = directory.write("k.hip", "#include <hip/hip_runtime.h>\n"
                                               "__global__ void scale(float* x, float a, int n) {\n"
                                               "  __shared__ float t[256];\n"
                                               "  t[threadIdx.x] = a;\n"
                                               "  __syncthreads();\n"
                                               "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                               "  if (i < n) { x[i] *= t[255 - threadIdx.x]; }\n"
                                               "}\n"
                                               "void run(float* x) { scale<<<1, 256>>>(x, 2.f, 9); }\n");
  const auto path = directory / "k.so";
  const std::string hipcc =
      "hipcc -fPIC -O1 --offload-arch=gfx906 --offload-arch=gfx90a:sramecc+:xnack- -shared ";
  if (std::system((hipcc + quoted(source) + " -o " + quoted(path) + " >/dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "hipcc cannot compile for these targets here";
  }
  const Image image = read_image(path);
  const DeviceCode code = read_device_code(image);
  EXPECT_EQ(code.registered, 1U);
  EXPECT_FALSE(code.has_rdc_leftover);
  EXPECT_THAT(code.targets(), ElementsAre("gfx906", "gfx90a:sramecc+:xnack-"));
  ASSERT_EQ(code.bundles.size(), 1U);
  ASSERT_EQ(code.bundles[0].problem, "");
  for (const CodeObject& object : code.bundles[0].code_objects) {
    if (object.is_host()) {
      continue;
    }
    EXPECT_EQ(object.problem, "");
    EXPECT_GE(object.code_object_version, 4);
    EXPECT_EQ(object.metadata_target, "amdgcn-amd-amdhsa--" + object.target);
    EXPECT_EQ(object.elf_flags & 0xffU, object.target == "gfx906" ? 0x2fU : 0x3fU);
    ASSERT_EQ(object.kernels.size(), 1U);
    EXPECT_EQ(demangled(object.kernels[0].name), "scale(float*, float, int)");
    EXPECT_EQ(object.kernels[0].lds_bytes, 1024U);
    EXPECT_EQ(object.kernels[0].wavefront, 64U);
    EXPECT_GT(object.kernels[0].vgprs, 0U);
    EXPECT_GT(object.kernels[0].kernarg_bytes, 15U);
  }
}

} // namespace
} // namespace dcuop::elf

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/support/error.hpp"

#include "built_files.hpp"
#include "made_bundles.hpp"

namespace dcuop::elf {
namespace {

using test::as_msgpack;
using test::code_object;
using test::content_of;
using test::metadata_of;
using test::quoted;
using test::shell;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;

std::string gfx936_code() {
  return code_object(as_msgpack(metadata_of("amdgcn-amd-amdhsa--gfx936:sramecc+:xnack-", {"k", "l"})),
                     {.abi_version = 3, .flags = 0xd7f, .owner = "AMDGPU"});
}

std::string refusal(const std::filesystem::path& path) {
  try {
    static_cast<void>(read_device_file(path));
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::usage);
    EXPECT_NE(error.hint, "");
    return error.what();
  }
  return "";
}

TEST(ReadDeviceFile, ReadsABareCodeObject) {
  const TemporaryDirectory directory;
  const DeviceFile file = read_device_file(directory.write("k.hsaco", gfx936_code()));
  EXPECT_EQ(file.form, DeviceFile::Form::code_object);
  ASSERT_EQ(file.code.bundles.size(), 1U);
  const CodeObject& object = file.code.bundles[0].code_objects.at(0);
  EXPECT_EQ(object.target, "gfx936:sramecc+:xnack-"); // the metadata's: its mach is nobody's
  EXPECT_EQ(object.code_object_version, 5);
  EXPECT_EQ(mach_text(object.elf_flags), "unknown mach 0x7f");
  ASSERT_EQ(object.kernels.size(), 2U);
  EXPECT_EQ(object.kernels[1].symbol, "l.kd");
  EXPECT_THAT(object.kernels[1].required_workgroup, ElementsAre(64, 1, 1));
  EXPECT_EQ(object.kernels[1].dynamic_stack, false);
  EXPECT_EQ(object.kernels[1].vgprs, 17U); // not the argument's
}

TEST(ReadDeviceFile, NamesTheTargetByFlagsWhenNothingElseDoes) {
  const TemporaryDirectory directory;
  auto metadata = metadata_of("", {"k"});
  metadata.erase("amdhsa.target");
  const auto target = [&](std::uint8_t abi_version, std::uint32_t flags) {
    const std::string bytes =
        code_object(as_msgpack(metadata), {.abi_version = abi_version, .flags = flags, .owner = "AMDGPU"});
    return read_device_file(directory.write("k.co", bytes)).code.bundles[0].code_objects.at(0).target;
  };
  EXPECT_EQ(target(1, 0x22f), "gfx906:sramecc+");
  EXPECT_EQ(target(1, 0x281), "");
  EXPECT_EQ(target(0, 0x2f), "");
}

TEST(ReadDeviceFile, ReadsMetadataOfEveryKind) {
  const TemporaryDirectory directory;
  auto metadata = metadata_of("amdgcn-amd-amdhsa--gfx1030", {"k"});
  auto& kernel = metadata["amdhsa.kernels"][0];
  kernel[".uses_dynamic_stack"] = true;
  kernel[".uniform_work_group_size"] = 1;
  kernel[".workgroup_processor_mode"] = 0;
  kernel[".max_num_work_groups_x"] = 7;
  kernel[".max_num_work_groups_z"] = 9;
  kernel[".reqd_workgroup_size"] = {8, 4, 2, 99};
  const DeviceFile file = read_device_file(directory.write("k.co", code_object(as_msgpack(metadata))));
  const KernelInfo& read = file.code.bundles[0].code_objects.at(0).kernels.at(0);
  EXPECT_EQ(read.dynamic_stack, true);
  EXPECT_EQ(read.uniform_workgroup, true);
  EXPECT_EQ(read.wgp_mode, false);
  EXPECT_THAT(read.max_workgroups, ElementsAre(7, 0, 9));
  EXPECT_THAT(read.required_workgroup, ElementsAre(8, 4, 2));
}

TEST(ReadDeviceFile, ReadsABundleFile) {
  const TemporaryDirectory directory;
  const std::string plain = test::bundle({{"host-x86_64-unknown-linux--", ""},
                                          {"hipv4-amdgcn-amd-amdhsa--gfx936", gfx936_code()},
                                          {"hip-spirv64-amd-amdhsa--amdgcnspirv", "\x03\x02\x23\x07 spirv"}});
  for (const std::string& bytes : {plain, test::ccob(1, 0, test::zlib_of(plain), plain.size()),
                                   test::ccob(2, 1, test::zstd_of(plain), plain.size()),
                                   test::ccob(3, 1, test::zstd_of(plain), plain.size())}) {
    const DeviceFile file = read_device_file(directory.write("k.hipfb", bytes));
    EXPECT_EQ(file.form, DeviceFile::Form::bundle);
    ASSERT_EQ(file.code.bundles.size(), 1U);
    EXPECT_EQ(file.code.bundles[0].problem, "");
    EXPECT_THAT(file.code.targets(), ElementsAre("amdgcnspirv", "gfx936"));
  }
}

TEST(ReadDeviceFile, SurvivesACutAtEveryByte) {
  const std::string whole = gfx936_code();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CodeObject object;
    read_code_object(std::string_view(whole).substr(0, length), object);
    EXPECT_NE(object.problem, "") << length;
  }
  const TemporaryDirectory directory;
  EXPECT_NE(refusal(directory.write("cut.co", whole.substr(0, sizeof(Elf64_Ehdr) - 1))), "");
  const auto half = read_device_file(directory.write("half.co", whole.substr(0, whole.size() / 2)));
  EXPECT_NE(half.code.bundles.at(0).code_objects.at(0).problem, "");
}

TEST(ReadDeviceFile, SurvivesEveryFlippedByte) {
  const std::string whole = gfx936_code();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(~bytes[at]);
    CodeObject object;
    read_code_object(bytes, object);
    EXPECT_LE(object.kernels.size(), whole.size()) << at;
  }
}

TEST(ReadDeviceFile, SaysOfARelocatableObjectWhatWaitsForItsLink) {
  const TemporaryDirectory directory;
  const auto source = directory.write(
      "rdc.s", ".section \"__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx906\",\"a\"\n.ascii "
               "\"BC\\300\\336....\"\n"
               ".section \"__CLANG_OFFLOAD_BUNDLE__host-x86_64-unknown-linux--\",\"a\"\n.byte 0\n"
               ".section .nv_fatbin,\"a\"\n.byte 0\n.section .llvm.offloading,\"a\"\n.byte 0\n");
  const auto object = directory / "rdc.o";
  shell("cc -c " + quoted(source) + " -o " + quoted(object));
  const DeviceFile file = read_device_file(object);
  EXPECT_EQ(file.form, DeviceFile::Form::relocatable);
  EXPECT_TRUE(file.code.has_cuda_fatbin);
  EXPECT_TRUE(file.has_offloading_section);
  ASSERT_EQ(file.code.bundles.size(), 1U);
  EXPECT_EQ(file.code.bundles[0].packing, Packing::rdc_sections);
  ASSERT_EQ(file.code.bundles[0].code_objects.size(), 1U);
  EXPECT_EQ(file.code.bundles[0].code_objects[0].target, "gfx906");
  EXPECT_THAT(file.code.bundles[0].code_objects[0].problem, HasSubstr("bitcode"));
}

TEST(ReadDeviceFile, RefusesWhatHasNoDeviceCodeToLookFor) {
  const TemporaryDirectory directory;
  EXPECT_THAT(refusal(directory.write("a.a", "!<arch>\nanything")), HasSubstr("static library"));
  EXPECT_THAT(refusal(directory.write("a.txt", std::string(200, 'x'))), HasSubstr("neither an ELF file"));
  EXPECT_THAT(refusal(directory.write("short", "x")), HasSubstr("neither an ELF file"));
  EXPECT_THAT(refusal(directory.write("empty", "")), HasSubstr("is empty"));
  EXPECT_THAT(refusal(directory / "missing"), HasSubstr("no such file"));
  EXPECT_THAT(refusal(directory / "."), HasSubstr("directory"));
}

} // namespace
} // namespace dcuop::elf

#include "dcuop/elf/bundle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "built_files.hpp"
#include "made_bundles.hpp"

namespace dcuop::elf {
namespace {

using test::as_msgpack;
using test::bundle;
using test::ccob;
using test::code_object;
using test::metadata_of;
using test::padded;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string host = "host-x86_64-unknown-linux";
const std::string gfx906_id = "hipv4-amdgcn-amd-amdhsa--gfx906";
const std::string gfx90a_id = "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";

std::string gfx906_code() {
  return code_object(as_msgpack(metadata_of("amdgcn-amd-amdhsa--gfx906", {"k"})));
}

std::string two_archs(std::size_t alignment = 4096) {
  return bundle({{host, ""},
                 {gfx906_id, gfx906_code()},
                 {gfx90a_id, code_object(as_msgpack(metadata_of("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
                                                                {"a", "b"})),
                                         {.abi_version = 3, .flags = 0xe3f, .owner = "AMDGPU"})}},
                alignment);
}

/// Everything that a reader must say is damaged, of bundles and of code objects.
std::vector<std::string> problems(const std::vector<Bundle>& bundles) {
  std::vector<std::string> problems;
  for (const Bundle& each : bundles) {
    if (!each.problem.empty()) {
      problems.push_back(each.problem);
    }
    for (const CodeObject& object : each.code_objects) {
      if (!object.problem.empty()) {
        problems.push_back(object.problem);
      }
    }
  }
  return problems;
}

CodeObject read(const std::string& bytes) {
  CodeObject object;
  read_code_object(bytes, object);
  return object;
}

TEST(ReadBundles, ReadsEntriesAndTheirCodeObjects) {
  const auto bundles = read_bundles(two_archs());
  ASSERT_EQ(bundles.size(), 1U);
  EXPECT_EQ(bundles[0].packing, Packing::plain);
  EXPECT_EQ(bundles[0].size, two_archs().size());
  EXPECT_THAT(problems(bundles), IsEmpty());
  ASSERT_EQ(bundles[0].code_objects.size(), 3U);
  EXPECT_TRUE(bundles[0].code_objects[0].is_host());
  EXPECT_EQ(bundles[0].code_objects[0].target, "");
  const CodeObject& second = bundles[0].code_objects[2];
  EXPECT_EQ(second.entry_id, gfx90a_id);
  EXPECT_EQ(second.target, "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(second.metadata_target, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
  EXPECT_EQ(second.code_object_version, 5);
  EXPECT_EQ(second.elf_flags, 0xe3fU);
  EXPECT_EQ(second.offset, 8192U);
  ASSERT_EQ(second.kernels.size(), 2U);
  EXPECT_EQ(second.kernels[1].name, "b");
}

TEST(ReadBundles, FindsTheTargetInEveryKindOfEntryId) {
  const std::vector<std::pair<std::string, std::string>> ids = {
      {"hip-amdgcn-amd-amdhsa-gfx906", "gfx906"}, // three fields
      {"hip-amdgcn-amd-amdhsa--gfx906:xnack-", "gfx906:xnack-"},
      {"hcc-amdgcn-amd-amdhsa--gfx803", "gfx803"},
      {"openmp-amdgcn-amd-amdhsa--gfx90a", "gfx90a"},
      {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+", "gfx9-4-generic:sramecc+"},
      {"hipv4-amdgcn-amd-amdhsa-unknown-gfx10-3-generic", "gfx10-3-generic"},
      {"hip-spirv64-amd-amdhsa--amdgcnspirv", "amdgcnspirv"},
      {"hipv4-amdgcn-amd-amdhsa--gfx936", "gfx936"},
      {"openmp-nvptx64-nvidia-cuda--sm_80", ""},
  };
  for (const auto& [id, target] : ids) {
    const auto bundles = read_bundles(bundle({{id, "x"}}));
    ASSERT_EQ(bundles.size(), 1U);
    EXPECT_EQ(bundles[0].code_objects.at(0).target, target) << id;
  }
}

TEST(ReadBundles, ReadsOnePerTranslationUnitPlainAndPackedMixed) {
  const std::string plain = two_archs();
  const std::string section = padded(plain) + padded(ccob(2, 1, test::zstd_of(plain), plain.size())) +
                              padded(ccob(1, 0, test::zlib_of(plain), plain.size())) +
                              padded(ccob(3, 1, test::zstd_of(plain), plain.size())) +
                              padded(ccob(2, 0, test::zlib_of(plain), plain.size())) +
                              bundle({{host, ""}, {gfx906_id, gfx906_code()}});
  const auto bundles = read_bundles(section);
  EXPECT_THAT(problems(bundles), IsEmpty());
  ASSERT_EQ(bundles.size(), 6U);
  const std::vector<Packing> packings = {Packing::plain,     Packing::ccob_zstd, Packing::ccob_zlib,
                                         Packing::ccob_zstd, Packing::ccob_zlib, Packing::plain};
  const std::vector<int> versions = {0, 2, 1, 3, 2, 0};
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    EXPECT_EQ(bundles[i].packing, packings[i]) << i;
    EXPECT_EQ(bundles[i].ccob_version, versions[i]) << i;
    EXPECT_EQ(bundles[i].offset % 4096, 0U);
    EXPECT_EQ(bundles[i].code_objects.size(), i == 5 ? 2U : 3U);
  }
  EXPECT_EQ(bundles[4].code_objects[2].kernels.size(), 2U);
}

TEST(ReadBundles, SkipsEmptyDeviceEntries) {
  const auto bundles = read_bundles(bundle({{host, ""}, {gfx906_id, ""}}));
  ASSERT_EQ(bundles.size(), 1U);
  EXPECT_EQ(bundles[0].code_objects.size(), 1U);
  EXPECT_THAT(problems(bundles), IsEmpty());
  EXPECT_THAT(DeviceCode{.bundles = bundles}.targets(), IsEmpty());
}

TEST(ReadBundles, SaysNothingOfNothing) {
  EXPECT_THAT(read_bundles(""), IsEmpty());
  EXPECT_THAT(read_bundles(std::string(10000, '\0')), IsEmpty());
}

TEST(ReadBundles, ReportsBytesThatAreNoBundle) {
  const auto bundles = read_bundles(padded("garbage") + two_archs());
  ASSERT_EQ(bundles.size(), 2U);
  EXPECT_EQ(bundles[0].packing, Packing::unknown);
  EXPECT_THAT(bundles[0].problem, HasSubstr("no offload bundle"));
  EXPECT_EQ(bundles[1].offset, 4096U);
  EXPECT_EQ(bundles[1].problem, "");
}

TEST(ReadBundles, NoticesTruncationAtEveryByte) {
  const std::string plain = two_archs(64);
  for (const std::string& whole :
       {plain, ccob(2, 1, test::zstd_of(plain), plain.size()), ccob(3, 0, test::zlib_of(plain), plain.size()),
        ccob(1, 1, test::zstd_of(plain), plain.size())}) {
    EXPECT_THAT(problems(read_bundles(whole)), IsEmpty());
    for (std::size_t length = 1; length < whole.size(); ++length) {
      EXPECT_FALSE(problems(read_bundles(whole.substr(0, length))).empty()) << length;
    }
  }
}

TEST(ReadBundles, SurvivesAnyDamagedByte) {
  const std::string plain = two_archs(64);
  int damaged_seen = 0;
  for (const std::string& whole : {plain, ccob(2, 1, test::zstd_of(plain), plain.size()),
                                   ccob(1, 0, test::zlib_of(plain), plain.size())}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        damaged_seen += problems(read_bundles(damaged)).empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(damaged_seen, 1000);
}

TEST(ReadBundles, BoundsWhatTheHeaderClaims) {
  std::string many = "__CLANG_OFFLOAD_BUNDLE__";
  test::put(many, std::uint64_t{1} << 40);
  EXPECT_THAT(problems(read_bundles(many)), ElementsAre(HasSubstr("1099511627776 entries")));

  std::string long_id = "__CLANG_OFFLOAD_BUNDLE__";
  for (const std::uint64_t value :
       {std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    test::put(long_id, value);
  }
  EXPECT_THAT(problems(read_bundles(long_id)), ElementsAre(HasSubstr("entry 0")));

  std::string wrapped = bundle({{gfx906_id, "x"}}, 1);
  std::memset(wrapped.data() + 32, 0xff, 8); // offset + size wraps round
  EXPECT_THAT(problems(read_bundles(wrapped)), testing::Contains(HasSubstr("past the end")));

  test::Entries entries;
  for (int i = 0; i < 50; ++i) {
    entries.emplace_back(gfx906_id, i == 0 ? std::string(100000, 'x') : "y");
  }
  std::string overlapping = bundle(entries, 1);
  for (std::size_t i = 1; i < 50; ++i) { // every entry is the first one again
    std::memcpy(overlapping.data() + 32 + i * (24 + gfx906_id.size()), overlapping.data() + 32, 16);
  }
  EXPECT_THAT(problems(read_bundles(overlapping)), testing::Contains(HasSubstr("overlap")));
}

TEST(Ccob, SaysWhichVersionOrMethodIsUnknown) {
  const std::string plain = two_archs();
  const auto newer = read_bundles(padded(ccob(4, 1, test::zstd_of(plain), plain.size())) + plain);
  ASSERT_EQ(newer.size(), 2U); // the one behind it is still read
  EXPECT_EQ(newer[0].ccob_version, 4);
  EXPECT_EQ(newer[0].packing, Packing::unknown);
  EXPECT_THAT(newer[0].problem, HasSubstr("CCOB version 4 is unknown"));
  EXPECT_EQ(newer[1].code_objects.size(), 3U);
  EXPECT_THAT(problems(read_bundles(ccob(2, 7, "payload", 7))),
              ElementsAre(HasSubstr("method 7 is unknown")));
}

TEST(Ccob, UnpacksToExactlyTheSizeOfTheHeader) {
  const std::string plain = two_archs();
  for (const int method : {0, 1}) {
    const std::string payload = method == 0 ? test::zlib_of(plain) : test::zstd_of(plain);
    EXPECT_THAT(problems(read_bundles(ccob(3, method, payload, plain.size() - 1))),
                ElementsAre(HasSubstr("unpacks to more")));
    EXPECT_THAT(problems(read_bundles(ccob(3, method, payload, plain.size() + 1))),
                ElementsAre(HasSubstr("unpacks to " + std::to_string(plain.size()))));
    EXPECT_THAT(problems(read_bundles(ccob(3, method, payload, std::uint64_t{1} << 60))),
                ElementsAre(HasSubstr("not unpacked")));
    EXPECT_THAT(problems(read_bundles(ccob(2, 1 - method, payload, plain.size()))),
                ElementsAre(HasSubstr("damaged")));
  }
  const std::string other = "no bundle at all";
  EXPECT_THAT(problems(read_bundles(ccob(2, 1, test::zstd_of(other), other.size()))),
              ElementsAre(HasSubstr("no offload bundle")));
}

TEST(Ccob, ComparesTheHashOfEveryVersion) {
  const std::string plain = two_archs();
  const std::uint64_t hash = test::half_md5_of(plain);
  std::string changed = plain;
  changed.back() ^= 1; // of the last code object: nothing else notices it
  for (const int version : {1, 2, 3}) {
    EXPECT_THAT(problems(read_bundles(ccob(version, 1, test::zstd_of(plain), plain.size(), hash))),
                IsEmpty());
    const auto damaged = read_bundles(ccob(version, 0, test::zlib_of(changed), plain.size(), hash));
    EXPECT_THAT(problems(damaged), Contains(HasSubstr("MD5"))) << version;
    EXPECT_EQ(damaged.at(0).code_objects.size(), 3U) << version; // which devices it was for
    EXPECT_THAT(problems(read_bundles(ccob(version, 1, test::zstd_of(plain), plain.size(), hash ^ 1))),
                ElementsAre(HasSubstr("MD5")));
  }
}

TEST(Ccob, NoticesAnyByteOfAZstdFrameThatChanged) {
  const std::string plain = two_archs(64);
  const std::string whole = ccob(2, 1, test::zstd_of(plain), plain.size(), test::half_md5_of(plain));
  std::size_t unseen_without_hash = 0;
  for (std::size_t at = 24; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] ^= 0x10;
    // A changed byte that says nothing unpacks to the same.
    std::string unpacked(plain.size(), '\0');
    const std::size_t length =
        ZSTD_decompress(unpacked.data(), unpacked.size(), bytes.data() + 24, bytes.size() - 24);
    EXPECT_EQ(problems(read_bundles(bytes)).empty(), length == plain.size() && unpacked == plain) << at;
    bytes.replace(16, 8, 8, '\0');
    unseen_without_hash += problems(read_bundles(bytes)).empty() ? 1 : 0;
  }
  EXPECT_GT(unseen_without_hash, 0U) << "then the hash would add nothing";
}

TEST(Ccob, AgreesWithWhatClangsBundlerWrites) {
  if (std::system("command -v clang-offload-bundler-19 >/dev/null") != 0) {
    GTEST_SKIP() << "no clang-offload-bundler-19";
  }
  const dcuop::test::TemporaryDirectory directory;
  const std::string device = gfx906_code();
  const auto input = directory.write("code.o", device);
  const auto output = directory / "packed";
  test::shell("clang-offload-bundler-19 -compress -type=o -targets=host-x86_64-unknown-linux," + gfx906_id +
              " -input=/dev/null -input=" + test::quoted(input) + " -output=" + test::quoted(output));
  std::string bytes = test::content_of(output);
  ASSERT_TRUE(bytes.starts_with("CCOB"));
  EXPECT_NE(bytes.substr(16, 8), std::string(8, '\0'));
  EXPECT_THAT(problems(read_bundles(bytes)), IsEmpty());
  bytes[16] ^= 1;
  EXPECT_THAT(problems(read_bundles(bytes)), Contains(HasSubstr("MD5")));
}

TEST(Ccob, StopsABomb) {
  const std::string zeros(std::size_t{64} << 20, '\0');
  const auto bundles = read_bundles(ccob(2, 1, test::zstd_of(zeros), 4096));
  EXPECT_THAT(problems(bundles), ElementsAre(HasSubstr("unpacks to more")));
}

TEST(CodeObject, ReadsEveryFieldOfAKernel) {
  const CodeObject object = read(gfx906_code());
  EXPECT_EQ(object.problem, "");
  EXPECT_EQ(object.code_object_version, 4);
  EXPECT_EQ(object.elf_flags, 0x52fU);
  ASSERT_EQ(object.kernels.size(), 1U);
  const KernelInfo& kernel = object.kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.vgprs, 17U); // not the argument's
  EXPECT_EQ(kernel.sgprs, 300U);
  EXPECT_EQ(kernel.agprs, 4U);
  EXPECT_EQ(kernel.vgpr_spills, 2U);
  EXPECT_EQ(kernel.sgpr_spills, 1U);
  EXPECT_EQ(kernel.lds_bytes, 65536U);
  EXPECT_EQ(kernel.scratch_bytes, 24U);
  EXPECT_EQ(kernel.kernarg_bytes, 56U);
  EXPECT_EQ(kernel.wavefront, 64U);
  EXPECT_EQ(kernel.max_workgroup, 1024U);
}

TEST(CodeObject, KeepsFlagsOfProcessorsThatLlvmDoesNotKnow) {
  const CodeObject object =
      read(code_object(as_msgpack(metadata_of("amdgcn-amd-amdhsa--gfx926:sramecc+", {})),
                       {.abi_version = 3, .flags = 0xd81, .owner = "AMDGPU"}));
  EXPECT_EQ(object.problem, "");
  EXPECT_EQ(object.elf_flags, 0xd81U);
  EXPECT_EQ(object.metadata_target, "amdgcn-amd-amdhsa--gfx926:sramecc+");
}

TEST(CodeObject, SaysWhyItCannotBeRead) {
  const std::string good = as_msgpack(metadata_of("t", {"k"}));
  EXPECT_THAT(read("x").problem, HasSubstr("not an ELF file"));
  EXPECT_THAT(read("BC\xc0\xde rest").problem, HasSubstr("bitcode"));
  EXPECT_THAT(read(gfx906_code().substr(0, 40)).problem, HasSubstr("cut"));
  EXPECT_THAT(read(code_object(good, {.machine = EM_X86_64})).problem, HasSubstr("x86-64"));
  EXPECT_THAT(read(code_object(good, {.os_abi = 0})).problem, HasSubstr("not for the AMD HSA runtime"));
  EXPECT_THAT(read(code_object(good, {.owner = "OTHER"})).problem, HasSubstr("no metadata note"));
  EXPECT_THAT(read(code_object(good, {.abi_version = 5})).problem, HasSubstr("version 7 is unknown"));
  EXPECT_THAT(read(code_object("\xc1 never used")).problem, HasSubstr("malformed MessagePack"));
  const CodeObject old = read(code_object("Version: [1, 0]", {.abi_version = 0}));
  EXPECT_EQ(old.problem, "");
  EXPECT_EQ(old.code_object_version, 2);
}

TEST(CodeObject, BoundsWhatTheMetadataClaims) {
  EXPECT_THAT(read(code_object(std::string(std::size_t{1} << 20, '\x91'))).problem, HasSubstr("nested"));
  std::string kernels = "\x81\xae"
                        "amdhsa.kernels\xdd\xff\xff\xff\xff"; // an array of 2^32 - 1
  EXPECT_THAT(read(code_object(kernels)).problem, HasSubstr("malformed"));
  kernels.append(300000, '\x80'); // empty maps
  EXPECT_THAT(read(code_object(kernels)).problem, HasSubstr("more than 262144 kernels"));
  EXPECT_THAT(read(code_object("\x81\xdb\xff\xff\xff\xff")).problem, HasSubstr("malformed")); // a 4 GiB key
}

TEST(CodeObject, LeavesSpirvToTheRuntime) {
  const CodeObject object = read(std::string("\x03\x02\x23\x07", 4) + std::string(100, 'x'));
  EXPECT_EQ(object.problem, "");
  EXPECT_EQ(object.code_object_version, 0);
}

} // namespace
} // namespace dcuop::elf

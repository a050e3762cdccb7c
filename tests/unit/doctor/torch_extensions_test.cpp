#include "dcuop/doctor/torch_extensions.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "../../../src/doctor/directory_users.hpp"
#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A cache of torch in a directory of its own, a /proc without anybody in it, and a Python and torch of no machine.
class TorchCache : public Clinic {
 protected:
  TorchCache() {
    environment_.set("TORCH_EXTENSIONS_DIR", cache().string());
    make_directories(cache());
    make_directories(directory_ / "proc/self/ns");
    std::filesystem::create_symlink("pid:[4026531836]", directory_ / "proc/self/ns/pid");
    facts_.python.emplace().version = "3.11.2";
    auto& torch = facts_.torch.emplace();
    torch.version = "2.4.1";
    torch.package = directory_ / "site-packages/torch";
    torch.cxx11_abi = true;
    torch.pybind11_build_abi = "_cxxabi1017";
    make_directories(torch.package);
  }

  [[nodiscard]] std::filesystem::path cache() const { return directory_ / "torch_extensions"; }

  /// An entry as torch leaves it: build.ninja, object, library.
  std::filesystem::path add_entry(const std::string& name, const std::string& flags = "",
                                  bool library = true) {
    const auto entry = cache() / name;
    make_directories(entry);
    const auto stem = entry.filename().string();
    const auto relative = std::filesystem::path("torch_extensions") / name;
    write((relative / "build.ninja").string(),
          "ninja_required_version = 1.3\ncxx = c++\n\ncflags = -DTORCH_EXTENSION_NAME=" + stem + " " + flags +
              "\n\nbuild " + stem + ".so: link " + stem + ".o\n\ndefault " + stem + ".so\n\n");
    write((relative / (stem + ".o")).string(), "object");
    if (library) {
      build((relative / (stem + ".so")).string(), "int f(void) { return 1; }");
      std::filesystem::remove(entry / (stem + ".so.c"));
    }
    return entry;
  }
  std::string torch_flags() {
    return "-isystem " + (facts_.torch->package / "include").string() + " -isystem /usr/include/python3.11";
  }

  static std::filesystem::path add_lock(const std::filesystem::path& entry, int age = 3600) {
    const auto lock = entry / "lock";
    std::ofstream(lock).close();
    make_older(lock, age);
    return lock;
  }
  static void make_older(const std::filesystem::path& file, int seconds) {
    const timespec then{::time(nullptr) - seconds, 0};
    const timespec times[2] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }
  static void make_all_older(const std::filesystem::path& entry) {
    for (const auto& file : std::filesystem::directory_iterator(entry)) {
      make_older(file.path(), 3600);
    }
  }

  std::filesystem::path add_process(int pid, const std::string& command_line) {
    const auto process = directory_ / "proc" / std::to_string(pid);
    make_directories(process / "fd");
    const auto uid = std::to_string(::geteuid());
    std::ofstream(process / "status")
        << "Name:\tpython3\nUid:\t" << uid << "\t" << uid << "\t" << uid << "\t" << uid << "\n";
    std::ofstream(process / "cmdline") << command_line;
    return process;
  }

  TorchCacheReport examine_cache(bool fix = false, std::vector<std::string> archs = {}) {
    return examine_torch_cache({std::move(archs), fix}, facts_,
                               {processes_, environment_, memos_, directory_, directory_});
  }
  static std::vector<std::string> rules_of(const std::vector<finding::Finding>& findings) {
    std::vector<std::string> rules;
    for (const auto& finding : findings) {
      rules.push_back(finding.rule);
    }
    return rules;
  }

  EnvironmentFacts facts_;
};

TEST_F(TorchCache, IsWhereTorchLooks) {
  EXPECT_EQ(
      torch_cache_root({{"TORCH_EXTENSIONS_DIR", "/x/y"}, {"XDG_CACHE_HOME", "/c"}, {"HOME", "/h"}}).path,
      "/x/y");
  EXPECT_EQ(torch_cache_root({{"XDG_CACHE_HOME", "/c"}, {"HOME", "/h"}}).path, "/c/torch_extensions");
  const auto root = torch_cache_root({{"TORCH_EXTENSIONS_DIR", ""}, {"HOME", "/h"}});
  EXPECT_EQ(root.path, "/h/.cache/torch_extensions");
  EXPECT_EQ(root.origin, "HOME");
}

TEST_F(TorchCache, FindsEntriesOfBothLayoutsAndNothingElse) {
  add_entry("plain", "", false);
  add_entry("py311_cpu/tagged", "", false);
  add_entry("py39_cu121/tagged", "", false);
  make_directories(cache() / "py_cpu/no_tag");
  make_directories(cache() / "empty");
  std::filesystem::create_directory_symlink(cache() / "plain", cache() / "link");
  const auto entries = torch_cache_entries(cache());
  std::vector<std::string> found;
  for (const auto& entry : entries) {
    found.push_back(entry.tag + ":" + entry.name);
  }
  EXPECT_THAT(found, ElementsAre(":plain", "py311_cpu:tagged", "py39_cu121:tagged"));
}

TEST_F(TorchCache, SaysNothingOfAGoodEntryOrOfNone) {
  EXPECT_THAT(examine_cache().entries, IsEmpty());
  add_entry("py311_cpu/good", torch_flags());
  const auto report = examine_cache();
  EXPECT_EQ(report.entries.size(), 1U);
  EXPECT_THAT(rules_of(report.findings), IsEmpty());
}

TEST_F(TorchCache, AnOldLockThatNobodyHoldsIsAnErrorAndIsRemovedByAFix) {
  const auto lock = add_lock(add_entry("k", torch_flags()));
  auto report = examine_cache();
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU501"));
  EXPECT_EQ(report.findings[0].fix, "rm " + lock.string());
  EXPECT_THAT(report.findings[0].cause, HasSubstr("every load() of k waits"));
  EXPECT_TRUE(std::filesystem::exists(lock)) << "only a fix removes";
  report = examine_cache(true);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(rules_of(report.fixed), ElementsAre("DCU501"));
  EXPECT_THAT(report.removed, ElementsAre(lock));
  EXPECT_FALSE(std::filesystem::exists(lock));
  EXPECT_TRUE(std::filesystem::exists(cache() / "k/k.so"));
}

TEST_F(TorchCache, AnOpenLockIsHeldWhateverItsPathIsCalledThere) {
  const auto lock = add_lock(add_entry("k", torch_flags()));
  std::filesystem::create_directory_symlink(cache(), directory_ / "mounted");
  std::filesystem::create_symlink(directory_ / "mounted/k/lock",
                                  add_process(4242, std::string("python3\0train.py", 16)) / "fd/7");
  const auto report = examine_cache(true);
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU502"));
  EXPECT_EQ(report.findings[0].severity, finding::Severity::note);
  EXPECT_THAT(report.findings[0].cause, HasSubstr("pid 4242 (python3 train.py) has lock open"));
  EXPECT_TRUE(std::filesystem::exists(lock));
  ASSERT_EQ(report.left.size(), 1U);
  EXPECT_THAT(report.left[0].reason, HasSubstr("4242"));
}

TEST_F(TorchCache, AFileOfTheSameNameElsewhereIsNotTheLock) {
  add_lock(add_entry("k", torch_flags()));
  std::filesystem::create_symlink(write("lock", ""), add_process(4242, "python3") / "fd/7");
  EXPECT_THAT(rules_of(examine_cache().findings), ElementsAre("DCU501"));
}

TEST_F(TorchCache, ABuilderThatOutlivedTheHolderKeepsTheLock) {
  const auto entry = add_entry("k", torch_flags());
  add_lock(entry);
  std::filesystem::create_symlink(entry, add_process(77, std::string("ninja\0-v", 8)) / "cwd");
  const auto report = examine_cache(true);
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU502"));
  EXPECT_THAT(report.findings[0].cause, HasSubstr("pid 77 (ninja -v) works in it"));
}

TEST_F(TorchCache, ACommandLineNamesTheDirectoryAndNotItsNeighbour) {
  const auto entry = add_entry("k", torch_flags());
  add_lock(entry);
  const auto process = add_process(78, "c++ -o " + entry.string() + "2/k.o");
  EXPECT_THAT(rules_of(examine_cache().findings), ElementsAre("DCU501"));
  std::ofstream(process / "cmdline") << "c++ -o " + entry.string() + "/k.o";
  EXPECT_THAT(rules_of(examine_cache().findings), ElementsAre("DCU502"));
}

TEST_F(TorchCache, WhatCannotBeSeenIsUnknownAndStays) {
  const auto lock = add_lock(add_entry("k", torch_flags()));
  const auto process = add_process(99, "python3");
  std::filesystem::remove(process / "fd");
  std::ofstream(process / "fd").close();
  auto report = examine_cache(true);
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU503"));
  EXPECT_THAT(report.findings[0].cause, HasSubstr("the open files of pid 99 cannot be read"));
  EXPECT_TRUE(std::filesystem::exists(lock));
  std::ofstream(process / "comm") << "sshd\n";
  EXPECT_THAT(rules_of(examine_cache().findings), ElementsAre("DCU501")) << "it never runs Python";
}

TEST_F(TorchCache, AContainerDoesNotSeeTheHost) {
  add_lock(add_entry("k", torch_flags()));
  std::filesystem::remove(directory_ / "proc/self/ns/pid");
  std::filesystem::create_symlink("pid:[4026532281]", directory_ / "proc/self/ns/pid");
  struct stat top {};
  struct stat here {};
  struct statfs system {};
  ASSERT_EQ(::stat("/", &top), 0);
  ASSERT_EQ(::stat(cache().c_str(), &here), 0);
  ASSERT_EQ(::statfs(cache().c_str(), &system), 0);
  const bool containers_own = top.st_dev == here.st_dev && system.f_type == 0x794c7630;
  const auto report = examine_cache(true);
  EXPECT_THAT(rules_of(containers_own ? report.fixed : report.findings),
              ElementsAre(containers_own ? "DCU501" : "DCU503"));
}

TEST_F(TorchCache, AYoungLockStays) {
  const auto lock = add_lock(add_entry("k", torch_flags()), 5);
  const auto report = examine_cache(true);
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU503"));
  EXPECT_EQ(report.findings[0].severity, finding::Severity::warning);
  EXPECT_THAT(report.findings[0].cause, HasSubstr("less than a minute"));
  EXPECT_TRUE(std::filesystem::exists(lock));
}

TEST_F(TorchCache, ALockThatIsNotTorchsStays) {
  const auto entry = add_entry("k", torch_flags());
  const auto lock = entry / "lock";
  std::ofstream(lock) << "4711";
  make_older(lock, 3600);
  const auto report = examine_cache(true);
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU503"));
  EXPECT_TRUE(std::filesystem::exists(lock));
}

TEST(WhyShared, KnowsLocalNetworkAndUnknownFileSystems) {
  EXPECT_TRUE(why_shared(0xef53UL).empty());
  EXPECT_TRUE(why_shared(0x01021994UL).empty());
  EXPECT_THAT(why_shared(0x6969UL).en, HasSubstr("NFS"));
  EXPECT_THAT(why_shared(0x0bd00bd0UL).en, HasSubstr("Lustre"));
  EXPECT_THAT(why_shared(0x12345678UL).en, HasSubstr("0x12345678"));
  EXPECT_THAT(why_shared(0x12345678UL).zh, HasSubstr("0x12345678"));
}

TEST_F(TorchCache, HalfBuiltEntriesAreErrorsAndAreRemovedByAFix) {
  const auto missing = add_entry("missing", torch_flags(), false);
  const auto empty = add_entry("empty", torch_flags(), false);
  std::ofstream(empty / "empty.so").close();
  const auto cut = add_entry("cut", torch_flags());
  std::filesystem::resize_file(cut / "cut.so", 5000);
  const auto keeps = add_entry("keeps", torch_flags(), false);
  std::ofstream(keeps / "main.cpp") << "int x;";
  for (const auto& entry : {missing, empty, cut, keeps}) {
    make_all_older(entry);
  }
  auto report = examine_cache();
  EXPECT_THAT(rules_of(report.findings), ElementsAre("DCU504", "DCU504", "DCU504", "DCU504"));
  EXPECT_THAT(report.findings[0].cause, HasSubstr("cut.so has 5000 of the"));
  EXPECT_THAT(report.findings[1].cause, HasSubstr("empty.so is empty"));
  EXPECT_THAT(report.findings[3].cause, HasSubstr("missing.so is missing"));
  EXPECT_THAT(report.findings[3].chinese.cause, HasSubstr("缺少 missing.so"));
  report = examine_cache(true);
  EXPECT_THAT(report.findings, IsEmpty());
  for (const auto& entry : {missing, empty, cut}) {
    EXPECT_FALSE(std::filesystem::exists(entry)) << entry;
  }
  EXPECT_THAT(list_directory(keeps), ElementsAre("main.cpp")) << "what torch did not make stays";
}

TEST_F(TorchCache, AHalfBuiltEntryStaysWhileItsLockDoesOrItIsYoung) {
  const auto entry = add_entry("k", torch_flags(), false);
  EXPECT_THAT(rules_of(examine_cache(true).findings), ElementsAre("DCU504"));
  make_all_older(entry);
  add_lock(entry, 1);
  EXPECT_THAT(rules_of(examine_cache(true).findings), ElementsAre("DCU504", "DCU503"));
  EXPECT_THAT(list_directory(entry), ElementsAre("build.ninja", "k.o", "lock"));
  make_older(entry / "lock", 100);
  const auto report = examine_cache(true);
  EXPECT_THAT(rules_of(report.fixed), ElementsAre("DCU501", "DCU504"));
  EXPECT_FALSE(std::filesystem::exists(entry));
}

TEST_F(TorchCache, AnEntryThatIsBeingBuiltIsANote) {
  const auto entry = add_entry("k", torch_flags(), false);
  make_all_older(entry);
  std::filesystem::create_symlink(entry, add_process(5, "ninja") / "cwd");
  const auto report = examine_cache(true);
  EXPECT_THAT(rules_of(report.findings), ElementsAre("DCU502"));
  EXPECT_TRUE(std::filesystem::exists(entry / "k.o"));
}

TEST_F(TorchCache, OtherPythonsAreWarningsByTagAndByBuildFile) {
  add_entry("py39_cpu/a", torch_flags());
  add_entry("b", "-isystem /opt/python/include/python3.9");
  add_entry("py311_cpu/c", torch_flags());
  const auto report = examine_cache();
  EXPECT_THAT(rules_of(report.findings), ElementsAre("DCU505", "DCU505"));
  EXPECT_THAT(report.findings[0].cause, HasSubstr("Python 3.9, this one is 3.11"));
  EXPECT_EQ(report.findings[0].severity, finding::Severity::warning);
  EXPECT_THAT(report.findings[1].cause, HasSubstr("Python 3.9, this one is 3.11"));
}

TEST_F(TorchCache, OtherTorchesAreWarnings) {
  add_entry("a", "-isystem /opt/venv/lib/python3.11/site-packages/torch/include");
  add_entry("b", torch_flags() + " -D_GLIBCXX_USE_CXX11_ABI=0");
  add_entry("c", torch_flags() + R"( -DPYBIND11_BUILD_ABI=\"_cxxabi1011\")");
  add_entry("d",
            "-I" + (facts_.torch->package / "include").string() + R"( -DPYBIND11_BUILD_ABI=\"_cxxabi1017\")");
  add_entry("py311_cu121/e", torch_flags());
  const auto report = examine_cache();
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU506", "DCU506", "DCU506", "DCU506"));
  EXPECT_THAT(report.findings[0].cause,
              HasSubstr("/opt/venv/lib/python3.11/site-packages/torch (which is gone)"));
  EXPECT_THAT(report.findings[1].cause, HasSubstr("_GLIBCXX_USE_CXX11_ABI=0"));
  EXPECT_THAT(report.findings[2].cause, HasSubstr("_cxxabi1011"));
  EXPECT_THAT(report.findings[3].cause, HasSubstr("cu121"));
}

TEST_F(TorchCache, ACudaTorchWantsItsOwnTag) {
  facts_.torch->cuda = "12.1";
  add_entry("py311_cu121/a", torch_flags());
  add_entry("py311_cpu/b", torch_flags());
  const auto report = examine_cache();
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU506"));
  EXPECT_THAT(report.findings[0].subject, HasSubstr("py311_cpu/b"));
}

TEST_F(TorchCache, ALibraryThatDoesNotLoadIsNamedWithTheDoctorsCause) {
  const auto entry = add_entry("k", torch_flags(), false);
  build("torch_extensions/k/k.so", "int absent(void); int f(void) { return absent(); }");
  const auto report = examine_cache();
  ASSERT_THAT(rules_of(report.findings), ElementsAre("DCU507"));
  EXPECT_EQ(report.findings[0].severity, finding::Severity::warning);
  EXPECT_THAT(report.findings[0].evidence[0].text, HasSubstr("absent"));
}

TEST_F(TorchCache, JsonHasTheEntriesAndWhatWasDone) {
  const auto lock = add_lock(add_entry("py311_cpu/k", torch_flags()));
  const auto document = to_json(examine_cache(true));
  EXPECT_EQ(document["origin"], "TORCH_EXTENSIONS_DIR");
  EXPECT_EQ(document["entries"][0]["tag"], "py311_cpu");
  EXPECT_EQ(document["removed"][0], lock.string());
  EXPECT_EQ(document["fixed"][0]["rule"], "DCU501");
  EXPECT_TRUE(document["findings"].empty());
}

} // namespace
} // namespace dcuop::doctor

#include "dcuop/doctor/live.hpp"

#include <sys/sysmacros.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "../../../src/doctor/live_process.hpp"
#include "clinic.hpp"

#include "dcuop/support/error.hpp"

namespace dcuop::doctor {
namespace {

using testing::HasSubstr;

TEST(ParseMapping, ReadsEveryField) {
  const auto mapping = parse_mapping(
      "7f1c2d000000-7f1c2d021000 r-xp 00001000 fe:01 1835045                    /a b/libk.so.1 (deleted)");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_TRUE(mapping->executable);
  EXPECT_EQ(mapping->device, makedev(0xfe, 1));
  EXPECT_EQ(mapping->inode, 1835045U);
  EXPECT_EQ(mapping->path, "/a b/libk.so.1 (deleted)");
  EXPECT_FALSE(parse_mapping("7f00-7f01 rw-p 00000000 00:00 0 ")->executable);
  EXPECT_EQ(parse_mapping("7f00-7f01 rw-p 00000000 00:00 0 ")->path, "");
  EXPECT_EQ(parse_mapping("7f00-7f01 r--p 00000000 08:01 5 /a\\012b.so")->path, "/a\nb.so");
}

TEST(ParseMapping, RefusesWhatIsNone) {
  for (const char* line :
       {"", "x", "7f00-7f01", "7f00-7f01 r-xp", "7f00-7f01 r-xp 0 0801 5 /x", "7f00-7f01 r-xp 0 08:01 z /x",
        "7f00 r-xp 0 08:01 5 /x", "7f00-7f01 r-x 0 08:01 5 /x", "7f00-7f01 r-xp q 08:01 5 /x"}) {
    EXPECT_FALSE(parse_mapping(line).has_value()) << line;
  }
  const std::string whole = "7f1c2d000000-7f1c2d021000 r-xp 00001000 fe:01 1835045 /k.so";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NO_THROW(static_cast<void>(parse_mapping(whole.substr(0, length))));
  }
}

TEST(MappedCode, IsProgramAndLibrariesOnceEach) {
  const auto code = mapped_code("5500-5501 r--p 0 08:01 1 /usr/bin/python3\n"
                                "5501-5502 r-xp 0 08:01 1 /usr/bin/python3\n"
                                "7f00-7f01 r--p 0 08:01 2 /l/libk.so.1.2\n"
                                "7f01-7f02 r-xp 0 08:01 2 /l/libk.so.1.2\n"
                                "7f02-7f03 r--p 0 08:01 3 /data/weights.bin\n"
                                "7f03-7f04 r--s 0 08:01 4 /l/only-read.so (deleted)\n"
                                "7f04-7f05 r-xp 0 00:01 5 /memfd:jit (deleted)\n"
                                "7f05-7f06 rw-s 0 00:05 6 /dev/kfd\n"
                                "7f06-7f07 r-xp 0 00:00 0 [vdso]\n"
                                "7f07-7f08 r--p 0 08:01 7 /data/libfoo.something\n"
                                "7f08-7f09 r-xp 0 08:01 8 /l/libk.so.1.2\n");
  std::vector<std::string> paths;
  for (const auto& mapping : code) {
    paths.push_back(mapping.path);
  }
  // The last one is another file that had the name before.
  EXPECT_THAT(paths, testing::ElementsAre("/usr/bin/python3", "/l/libk.so.1.2", "/l/only-read.so (deleted)",
                                          "/l/libk.so.1.2"));
}

TEST(ParseEnviron, SplitsAtNul) {
  const auto environment = parse_environ(std::string("A=1\0B=x=y\0C=\0junk\0", 18));
  EXPECT_EQ(environment.get("A"), "1");
  EXPECT_EQ(environment.get("B"), "x=y");
  EXPECT_EQ(environment.get("C"), "");
  EXPECT_EQ(environment.get("junk"), std::nullopt);
}

TEST(StatusField, TakesTheWholeName) {
  EXPECT_EQ(status_field("Name:\tpython3\nUid:\t0\t1\t2\t3\n", "Uid"), "0\t1\t2\t3");
  EXPECT_EQ(status_field("Name:\tpython3\n", "Na"), "");
}

TEST(ReadLiveProcess, ReadsThisOne) {
  const auto process = read_live_process(::getpid());
  EXPECT_EQ(process.pid, ::getpid());
  EXPECT_EQ(process.user, ::geteuid());
  EXPECT_TRUE(process.environment_known);
  EXPECT_FALSE(process.other_mounts);
  ASSERT_GT(process.files.size(), 3U);
  EXPECT_EQ(process.files.front().path, process.executable);
  for (const auto& file : process.files) {
    EXPECT_EQ(file.on_disk, OnDisk::same) << file.path;
  }
}

TEST(ReadLiveProcess, SaysThatThereIsNone) {
  for (const int pid : {0, -1, 99999999}) {
    try {
      static_cast<void>(read_live_process(pid));
      FAIL() << pid;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("there is no process"));
    }
  }
}

class Live : public Clinic {
 protected:
  /// A process whose files are what a test says.
  LiveProcess process(const std::vector<std::filesystem::path>& files) {
    LiveProcess made;
    made.pid = 4121;
    made.command_line = "python3 train.py";
    made.executable = python_with_torch;
    made.user = ::geteuid();
    made.environment_known = true;
    for (const auto& path : files) {
      LoadedFile file;
      file.path = file.here = path;
      made.files.push_back(file);
    }
    return made;
  }
  std::filesystem::path library(const std::string& name, const std::string& soname) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    return build(name, "int f(void) { return 1; }", {"-Wl,-soname," + soname});
  }
  LiveReport live(const LiveProcess& one, std::vector<std::string> archs = {},
                  const std::filesystem::path& file = {}) {
    return examine_process(one, {std::move(archs), file, directory_}, machine());
  }
  static std::vector<std::string> rules(const LiveReport& report) {
    std::vector<std::string> found;
    for (const auto& finding : report.findings) {
      found.push_back(finding.rule);
    }
    return found;
  }
};

TEST_F(Live, TwoHipRuntimesAreAnError) {
  const auto one = library("torch/lib/libamdhip64.so", "libamdhip64.so.6");
  const auto two = library("opt/libgalaxyhip.so.5", "libgalaxyhip.so.5");
  auto both = process({one, two});
  both.environment.set("LD_LIBRARY_PATH", "/opt/dtk/hip/lib");
  const auto report = live(both);
  ASSERT_THAT(rules(report), testing::Contains("DCU601"));
  EXPECT_EQ(report.headline, "pid 4121 (python3 train.py): 2 HIP runtimes are loaded.");
  EXPECT_EQ(report.findings.front().evidence.back().text, "LD_LIBRARY_PATH=/opt/dtk/hip/lib");
  EXPECT_THAT(rules(live(process({one}))), testing::Not(testing::Contains("DCU601")));
}

TEST_F(Live, CopiesOfOneLibraryAreFoundByStem) {
  const auto report = live(process(
      {library("a/libstdc++.so.6", "libstdc++.so.6"), library("b/libstdc++.so.6.0.30", "libstdc++.so.6"),
       library("a/libgomp-d22c30c5.so.1", "libgomp.so.1"), library("b/libgomp.so.1", "libgomp.so.1"),
       library("a/libpython3.10.so.1.0", "x"), library("b/libpython3.11.so.1.0", "y")}));
  std::map<std::string, finding::Severity> severities;
  for (const auto& finding : report.findings) {
    if (finding.rule == "DCU602") {
      severities[finding.summary.substr(0, finding.summary.find(' '))] = finding.severity;
    }
  }
  EXPECT_EQ(severities.size(), 3U);
  EXPECT_EQ(severities["libstdc++"], finding::Severity::error);
  EXPECT_EQ(severities["libpython"], finding::Severity::error);
  EXPECT_EQ(severities["libgomp"], finding::Severity::warning);
}

TEST_F(Live, CudaBesideHipIsAnErrorButNotDtksOwn) {
  const auto hip = library("libamdhip64.so.6", "libamdhip64.so.6");
  const auto mixed = live(process({hip, library("libtorch_cuda.so", "libtorch_cuda.so")}));
  EXPECT_THAT(rules(mixed), testing::Contains("DCU605"));
  const auto dtk = live(process({hip, library("dtk-25.04/cuda/lib/libcudart.so.12", "libcudart.so.12")}));
  EXPECT_THAT(rules(dtk), testing::Not(testing::Contains("DCU605")));
}

TEST_F(Live, ReplacedAndDeletedFilesAreWarnings) {
  auto gone = process({library("a.so", "a.so"), library("b.so", "b.so")});
  gone.files[0].on_disk = OnDisk::replaced;
  gone.files[0].changed = "inode 1 is mapped, 2 is there";
  gone.files[1].on_disk = OnDisk::deleted;
  const auto report = live(gone);
  ASSERT_THAT(rules(report), testing::ElementsAre("DCU603", "DCU604"));
  EXPECT_EQ(report.findings[0].severity, finding::Severity::warning);
  EXPECT_THAT(report.headline, HasSubstr("it still runs the old a.so"));
  EXPECT_THAT(report.findings[0].fix, HasSubstr("restart"));
}

TEST_F(Live, VariablesThatPickDevicesAreTheProcess) {
  auto one = process({library("a.so", "a.so")});
  one.environment.set("HSA_OVERRIDE_GFX_VERSION", "not.a.version");
  EXPECT_THAT(rules(live(one)), testing::Contains("DCU418"));
}

TEST_F(Live, AFileIsJudgedWithWhatIsLoaded) {
  const auto provider = library("libprovider.so.1", "libprovider.so.1");
  const auto user = build("user.so", "int f(void); int g(void) { return f(); }",
                          {"-L" + directory_.string(), "-l:libprovider.so.1"});
  const auto python = std::filesystem::canonical(python_with_torch);
  const auto without = live(process({python}), {}, user);
  ASSERT_TRUE(without.file.has_value());
  EXPECT_EQ(without.file->verdict, Verdict::does_not_load);
  // By its SONAME alone, wherever it lies: no search path leads there.
  const auto with = live(process({python, provider}), {}, "user.so");
  ASSERT_TRUE(with.file.has_value());
  EXPECT_EQ(with.file->verdict, Verdict::loads) << with.file->headline;
}

TEST_F(Live, JsonHasTheFilesAndTheirState) {
  auto one = process({library("a.so", "liba.so.1")});
  one.files[0].on_disk = OnDisk::deleted;
  const auto document = to_json(one, live(one));
  EXPECT_EQ(document["process"]["pid"], 4121);
  EXPECT_EQ(document["loaded"][0]["on_disk"], "deleted");
  EXPECT_EQ(document["verdict"], "process");
}

} // namespace
} // namespace dcuop::doctor

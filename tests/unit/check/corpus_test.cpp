// tests/corpus/check/<rule>: bad*, good* and trap* sources. A line that a rule must find says so: //! DCU910, or
// //! next DCU910 on the line before. Errors that no line announces are false alarms, whatever their rule.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/check/check.hpp"
#include "dcuop/support/environment.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/temporary_directory.hpp"

namespace dcuop::check {
namespace {

namespace fs = std::filesystem;
using finding::Severity;

const fs::path corpus = fs::path(DCUOP_SOURCE_DIR) / "tests/corpus/check";

std::vector<fs::path> sources() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    const std::string extension = entry.path().extension().string();
    const bool of_a_rule = entry.path().parent_path().filename() != "styles"; // styles_test.cpp reads those
    if (of_a_rule && (extension == ".hip" || extension == ".cpp")) {
      all.push_back(entry.path());
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::multiset<std::string> announced(const fs::path& path) {
  std::multiset<std::string> all;
  std::ifstream file(path);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const auto at = line.find("//! ");
    if (at == std::string::npos) {
      continue;
    }
    std::istringstream words(line.substr(at + 4));
    std::size_t where = number;
    for (std::string word; words >> word;) {
      if (word == "next") {
        ++where;
      } else {
        all.insert(word + " in line " + std::to_string(where));
      }
    }
  }
  return all;
}

Report checked(const fs::path& path) {
  Request request;
  request.directory = path.parent_path();
  request.files = {path};
  return check(request);
}

class Corpus : public testing::TestWithParam<fs::path> {};

TEST_P(Corpus, FindsWhatIsPlantedAndNothingElse) {
  const fs::path path = GetParam();
  const std::string rule = path.parent_path().filename().string();
  const auto wanted = announced(path);
  std::multiset<std::string> found;
  for (const auto& finding : checked(path).findings) {
    const std::string text = finding.rule + " in line " + std::to_string(finding.line);
    const bool counts = finding.severity == Severity::error ||
                        (finding.rule == rule && finding.severity != Severity::note) || wanted.contains(text);
    if (counts) {
      found.insert(text);
    }
    EXPECT_EQ(finding.subject, path.string());
    EXPECT_FALSE(finding.fix.empty());
  }
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(wanted.empty(), !path.filename().string().starts_with("bad"))
      << "only bad ones announce something";
}

INSTANTIATE_TEST_SUITE_P(Check, Corpus, testing::ValuesIn(sources()), [](const auto& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST(CorpusOfRules, HasABadAGoodAndATrapForEachRuleOfSources) {
  for (const auto& rule : finding::rules()) {
    if (!rule.id.starts_with("DCU9") || rule.id.starts_with("DCU95")) {
      continue;
    }
    std::set<std::string> kinds;
    const fs::path directory = corpus / std::string(rule.id);
    ASSERT_TRUE(fs::is_directory(directory)) << rule.id;
    for (const auto& entry : fs::directory_iterator(directory)) {
      const std::string name = entry.path().filename().string();
      kinds.insert(name.substr(0, name.find_first_of("._")));
    }
    EXPECT_THAT(kinds, testing::ElementsAre("bad", "good", "trap")) << rule.id;
  }
}

Report released(const fs::path& directory) {
  Request request;
  request.directory = directory;
  request.files = source_files(directory);
  request.release = true;
  if (fs::exists(directory / "dcuop.toml")) {
    request.manifest = directory / "dcuop.toml";
  }
  return check(request);
}

std::set<std::string> rules_of(const Report& report) {
  std::set<std::string> all;
  for (const auto& finding : report.findings) {
    all.insert(finding.rule);
  }
  return all;
}

TEST(ReleaseChecklist, IsMetByAnOperatorThatHasEverything) {
  const Report report = released(corpus / "release/good");
  EXPECT_THAT(rules_of(report), testing::IsEmpty());
  ASSERT_EQ(report.checklist.size(), 11U);
  for (const auto& item : report.checklist) {
    EXPECT_TRUE(item.is_met) << item.text.en;
  }
}

TEST(ReleaseChecklist, NamesWhatIsMissing) {
  const TemporaryDirectory copy(Environment::of_this_process());
  fs::copy(corpus / "release/bad", copy.path(), fs::copy_options::recursive);
  std::ofstream(copy.path() / "bad.so") << "x";
  fs::create_directory(copy.path() / "__pycache__");
  const Report report = released(copy.path());
  EXPECT_THAT(rules_of(report), testing::ElementsAre("DCU951", "DCU952", "DCU953", "DCU954", "DCU955",
                                                     "DCU956", "DCU957", "DCU958", "DCU959"));
  EXPECT_EQ(std::count_if(report.findings.begin(), report.findings.end(),
                          [](const auto& one) { return one.rule == "DCU958"; }),
            2);
  for (const auto& finding : report.findings) {
    if (finding.rule == "DCU957") {
      EXPECT_EQ(finding.line, 5U);
    } else if (finding.rule == "DCU952") {
      EXPECT_THAT(finding.cause, testing::EndsWith("the tests have no size 0, 1, 257"));
    }
  }
  EXPECT_FALSE(report.checklist.front().is_met);
  EXPECT_TRUE(report.checklist[1].is_met) << "there is no binding";
}

TEST(ReleaseChecklist, CommentsInPythonAndInTheManifestAllow) {
  const TemporaryDirectory copy(Environment::of_this_process());
  fs::copy(corpus / "release/bad", copy.path(), fs::copy_options::recursive);
  const auto append = [&](const char* name, const std::string& text) {
    std::ofstream(copy.path() / name, std::ios::app) << text;
  };
  append("dcuop.toml", "# dcuop: allow(DCU956, end-to-end-missing) it is a part of another operator\n"
                       "text = \"# dcuop: allow(DCU959) no comment\"\n"
                       "# dcuop: allow(DCU955)\n");
  append("loader.py", "# dcuop: allow(DCU951) the loader of the framework checks\n");
  append("test_bad.py", "'# dcuop: allow(DCU953) a string'\n# dcuop: allow(DCU914) nothing waits here\n");
  std::string timed = *read_file(copy.path() / "timed.py");
  timed.insert(timed.find("op = load_inline"), "# dcuop: allow(DCU957) compiling is what is measured\n");
  std::ofstream(copy.path() / "timed.py") << timed;
  const Report report = released(copy.path());
  EXPECT_THAT(rules_of(report),
              testing::ElementsAre("DCU952", "DCU953", "DCU954", "DCU955", "DCU959", "DCU990", "DCU991"));
  EXPECT_EQ(report.allowed, 3U);
  for (const auto& finding : report.findings) {
    if (finding.rule == "DCU990") {
      EXPECT_THAT(finding.cause, testing::StartsWith("dcuop.toml:3: DCU955 is allowed without a reason"));
    } else if (finding.rule == "DCU991") {
      EXPECT_THAT(finding.cause, testing::StartsWith("test_bad.py:"));
    }
  }
  Request request;
  request.directory = copy.path();
  request.files = source_files(copy.path());
  EXPECT_THAT(check(request).findings, testing::IsEmpty()) << "without --release they are about nothing";
}

TEST(ReleaseChecklist, ACommentInTheManifestDeclaresNothing) {
  const TemporaryDirectory copy(Environment::of_this_process());
  fs::copy(corpus / "release/good", copy.path(), fs::copy_options::recursive);
  fs::remove(copy.path() / "bench_good.py");
  std::ofstream(copy.path() / "dcuop.toml") << "[op]\n# [verify.e2e]\n# [[verify.function]]\n";
  EXPECT_THAT(rules_of(released(copy.path())), testing::ElementsAre("DCU955", "DCU956"));
  std::ofstream(copy.path() / "dcuop.toml") << "[[verify.function]]\n  [verify.e2e]\n";
  EXPECT_THAT(rules_of(released(copy.path())), testing::IsEmpty());
}

TEST(SourceFiles, PassesOverProductsAndHiddenDirectories) {
  const TemporaryDirectory directory(Environment::of_this_process());
  for (const char* name : {"a.hip", "b.py", "c.txt", "d/e.h", "build/f.cpp", ".git/g.cpp", "__pycache__/h.py",
                           "venv/pyvenv.cfg", "venv/lib/i.py", "out/CMakeCache.txt", "out/j.cpp"}) {
    fs::create_directories((directory.path() / name).parent_path());
    std::ofstream(directory.path() / name) << "\n";
  }
  std::vector<std::string> names;
  for (const auto& path : source_files(directory.path())) {
    names.push_back(path.lexically_relative(directory.path()).string());
  }
  EXPECT_THAT(names, testing::ElementsAre("a.hip", "b.py", "d/e.h"));
}

TEST(Check, SaysWhatItDidNotRead) {
  const TemporaryDirectory directory(Environment::of_this_process());
  const std::string kernel = "__global__ void k(float* y) { if (threadIdx.x) { __syncthreads(); } }\n";
  const std::map<std::string, std::string> texts = {
      {"comment.hip", "/* no end\n" + kernel},
      {"cr.hip", "#include <hip/hip_runtime.h>\r" + kernel.substr(0, kernel.size() - 1) + "\r"},
      {"macro.hip", "#define BODY(y) if (y) { y[0] = = 1; }\n"},
      {"raw.hip", "const char* s = R\"(no end\n" + kernel},
      {"zero.hip", kernel + std::string(1, '\0')}};
  for (const auto& [name, text] : texts) {
    std::ofstream(directory.path() / name) << text;
  }
  for (const char* name : {"nowhere.hip", "nowhere.py"}) {
    fs::create_symlink("not there", directory.path() / name);
  }
  Request request;
  request.directory = directory.path();
  request.files = source_files(request.directory);
  std::vector<std::string> said;
  for (const auto& finding : check(request).findings) {
    if (finding.rule == "DCU992") {
      said.push_back(fs::path(finding.subject).filename().string());
    }
  }
  std::sort(said.begin(), said.end());
  EXPECT_THAT(said, testing::ElementsAre("comment.hip", "cr.hip", "macro.hip", "nowhere.hip", "nowhere.py",
                                         "raw.hip", "zero.hip"));
  request.files = {directory.path() / "nowhere.hip"};
  EXPECT_EQ(check(request).understood, 0);
}

TEST(Check, ReadsAFileThatIsNamedWhateverItsExtensionIs) {
  const TemporaryDirectory directory(Environment::of_this_process());
  Request request;
  request.directory = directory.path();
  request.files = {directory.path() / "kernels.ipp"};
  std::ofstream(request.files.front())
      << "__global__ void k(float* y) { if (threadIdx.x) { __syncthreads(); } }\n";
  EXPECT_THAT(rules_of(check(request)), testing::ElementsAre("DCU918"));
}

TEST(Check, TrustsAFunctionLessThatItDidNotUnderstandWholly) {
  const TemporaryDirectory directory(Environment::of_this_process());
  Request request;
  request.directory = directory.path();
  request.files = {directory.path() / "a.hip"};
  const std::string barrier = "  if (threadIdx.x == 0) { __syncthreads(); }\n}\n";
  for (const bool damaged : {false, true}) {
    std::ofstream(request.files.front()) << "__global__ void k(float* y) {\n"
                                         << (damaged ? "  y[0] = = 1;\n" : "") << barrier;
    const Report report = check(request);
    ASSERT_FALSE(report.findings.empty());
    const auto& finding = report.findings.front();
    EXPECT_EQ(finding.rule, "DCU918");
    EXPECT_EQ(finding.severity, damaged ? Severity::warning : Severity::error);
    EXPECT_EQ(finding.evidence.back().label, damaged ? "confidence" : "code");
    EXPECT_EQ(report.understood < 1, damaged);
    EXPECT_EQ(rules_of(report).contains("DCU992"), damaged);
  }
}

TEST(Check, FollowsCallsHoweverDeepTheyAre) {
  const TemporaryDirectory directory(Environment::of_this_process());
  Request request;
  request.directory = directory.path();
  request.files = {directory.path() / "a.hip"};
  for (const int depth : {1, 60, 400}) {
    std::string waits;
    std::string gives;
    for (int index = 0; index < depth; ++index) {
      const std::string here = std::to_string(index) + "() { ";
      const std::string next = std::to_string(index + 1) + "(); }\n";
      waits += "__device__ void wait" + here + "wait" + next;
      gives += "__device__ bool first" + here + "return first" + next;
    }
    const std::string last = std::to_string(depth);
    std::ofstream(request.files.front())
        << waits << "__device__ void wait" << last << "() { __syncthreads(); }\n"
        << gives << "__device__ bool first" << last << "() { return threadIdx.x == 0; }\n"
        << "__global__ void k(int n) { if (first0()) { __syncthreads(); } if (threadIdx.x < n) { wait0(); } "
           "}\n";
    std::vector<std::string> causes;
    for (const auto& finding : check(request).findings) {
      EXPECT_EQ(finding.severity, Severity::error);
      causes.push_back(finding.cause.substr(finding.cause.find(": ") + 2));
    }
    EXPECT_THAT(causes, testing::ElementsAre("__syncthreads in k is not reached by every thread: (first0())",
                                             "wait0 in k is not reached by every thread: (threadIdx.x < n)"));
  }
}

TEST(Check, FollowsHeadersOutsideOfTheDirectoryButDoesNotJudgeThem) {
  const TemporaryDirectory directory(Environment::of_this_process());
  fs::create_directories(directory.path() / "op");
  std::ofstream(directory.path() / "common.h")
      << "__global__ void wait(float* y) { if (threadIdx.x) { __syncthreads(); } }\n";
  std::ofstream(directory.path() / "op/a.hip")
      << "#include \"../common.h\"\n__global__ void k(float* y) { y[0] = 1; }\n";
  Request request;
  request.directory = directory.path() / "op";
  request.files = source_files(request.directory);
  const Report report = check(request);
  EXPECT_EQ(report.files, 1U);
  EXPECT_EQ(report.functions, 2U);
  EXPECT_EQ(report.understood, 1.0);
  EXPECT_TRUE(report.findings.empty());
}

} // namespace
} // namespace dcuop::check

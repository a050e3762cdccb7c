// tests/corpus/check/styles: operators as people write them, without a fault. A line may say which fault it prevents:
//   //! without DCU901 DCU903   is found when the line is taken out
//   //! or DCU910 CODE          is found when CODE stands there instead
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

const fs::path styles = fs::path(DCUOP_SOURCE_DIR) / "tests/corpus/check/styles";

std::vector<fs::path> sources() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(styles)) {
    all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// What is found beyond notes; that kernel and binding share the file is left out, as each style is one file.
std::multiset<std::string> found_in(const fs::path& directory) {
  Request request;
  request.directory = directory;
  request.files = source_files(directory);
  std::multiset<std::string> rules;
  for (const auto& finding : check(request).findings) {
    if (finding.severity != Severity::note && finding.rule != "DCU920") {
      rules.insert(finding.rule);
    }
  }
  return rules;
}

class Styles : public testing::TestWithParam<fs::path> {
 protected:
  Styles() : directory_(Environment::of_this_process()) {}

  std::multiset<std::string> found(const std::vector<std::string>& lines) {
    std::ofstream file(directory_.path() / GetParam().filename());
    for (const std::string& line : lines) {
      file << line << "\n";
    }
    file.close();
    return found_in(directory_.path());
  }

  TemporaryDirectory directory_;
};

TEST_P(Styles, AreCleanAndEachFaultThatALinePreventsIsFoundWithoutIt) {
  std::vector<std::string> lines;
  std::vector<std::string> markers;
  std::istringstream text(read_file(GetParam()).value_or(""));
  for (std::string line; std::getline(text, line);) {
    const auto at = line.find("//! ");
    markers.push_back(at == std::string::npos ? "" : line.substr(at + 4));
    lines.push_back(line.substr(0, at));
  }
  EXPECT_THAT(found(lines), testing::IsEmpty());
  for (std::size_t index = 0; index < lines.size(); ++index) {
    if (markers[index].empty()) {
      continue;
    }
    std::istringstream words(markers[index]);
    std::string kind;
    std::string rule;
    words >> kind;
    auto changed = lines;
    std::vector<std::string> wanted;
    if (kind == "without") {
      while (words >> rule) {
        wanted.push_back(rule);
      }
      changed[index] = "";
    } else {
      ASSERT_EQ(kind, "or");
      words >> rule;
      wanted.push_back(rule);
      std::getline(words, changed[index]);
    }
    const auto rules = found(changed);
    for (const std::string& one : wanted) {
      EXPECT_TRUE(rules.contains(one)) << GetParam().filename() << " line " << index + 1 << " " << kind << " "
                                       << one << ": found " << testing::PrintToString(rules);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Check, Styles, testing::ValuesIn(sources()),
                         [](const auto& info) { return info.param.stem().string(); });

} // namespace
} // namespace dcuop::check

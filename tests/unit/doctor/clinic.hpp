#pragma once
// What the doctor's tests share: a directory of their own, a compiler, and this machine's real Python and
// torch.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::doctor {

constexpr const char* python_with_torch = "/usr/bin/python3";

class Clinic : public testing::Test {
 protected:
  Clinic() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dcuop-doctor-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~Clinic() override { remove_tree(directory_); }

  /// Facts of this machine, asked once: they cost a Python start.
  static const EnvironmentFacts& facts() {
    static const EnvironmentFacts known = [] {
      SystemProcessRunner processes;
      const auto environment = Environment::of_this_process();
      const MemoStore none({});
      return gather_facts({processes, environment, none, "/", "/"}, python_with_torch);
    }();
    return known;
  }
  static bool has_torch() { return facts().torch.has_value(); }

  [[nodiscard]] probe::Machine machine() { return {processes_, environment_, memos_, directory_, "/"}; }

  std::filesystem::path write(const std::string& name, std::string_view content) {
    std::ofstream(directory_ / name, std::ios::binary) << content;
    return directory_ / name;
  }

  /// A shared object `name` of one source (C unless it is .cpp) in the test's directory.
  std::filesystem::path build(const std::string& name, const std::string& source,
                              std::vector<std::string> options = {}, bool cxx = false) {
    const auto file = write(name + (cxx ? ".cpp" : ".c"), source);
    std::vector<std::string> argv = {cxx ? "g++" : "gcc",          "-shared",    "-fPIC", "-w", "-o",
                                     (directory_ / name).string(), file.string()};
    argv.insert(argv.end(), options.begin(), options.end());
    const auto result = processes_.run({argv, directory_, environment_, {}, {}});
    EXPECT_TRUE(result.ok()) << result.diagnostics;
    return directory_ / name;
  }

  Report examine(const std::filesystem::path& file, std::vector<std::string> archs = {}) {
    Question question;
    question.file = file;
    question.archs = std::move(archs);
    return diagnose(question, facts(), machine());
  }

  static std::vector<std::string> errors_of(const Report& report) {
    std::vector<std::string> rules;
    for (const auto& finding : report.findings) {
      if (finding.severity == finding::Severity::error) {
        rules.push_back(finding.rule);
      }
    }
    return rules;
  }
  static const finding::Finding* find(const Report& report, std::string_view rule) {
    for (const auto& finding : report.findings) {
      if (finding.rule == rule) {
        return &finding;
      }
    }
    return nullptr;
  }
  /// The evidence of a finding as one text: "label: text\n"...
  static std::string evidence_of(const Report& report, std::string_view rule) {
    std::string text;
    if (const auto* found = find(report, rule)) {
      for (const auto& row : found->evidence) {
        text += row.label + ": " + row.text + "\n";
      }
    }
    return text;
  }

  SystemProcessRunner processes_;
  Environment environment_ = Environment::of_this_process();
  MemoStore memos_{{}};
  std::filesystem::path directory_;
};

} // namespace dcuop::doctor

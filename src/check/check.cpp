#include "dcuop/check/check.hpp"

#include <algorithm>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "sources.hpp"

namespace dcuop::check {
namespace {

using finding::Finding;

bool is_cxx(const std::filesystem::path& path) {
  return is_any_of(path.extension().string(), {".hip", ".cu", ".cpp", ".cc", ".cxx", ".c", ".h", ".hh",
                                               ".hpp", ".hxx", ".cuh", ".inl", ".inc"});
}

bool is_python(const std::filesystem::path& path) {
  return path.extension() == ".py";
}

constexpr std::size_t most_sources = 20000;

/// What other programs made: a virtual environment, a build tree.
bool is_product(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return is_any_of(name, {"pyvenv.cfg", "CMakeCache.txt", ".ninja_log"});
  });
}

void sort(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(b.severity, a.subject, a.line, a.rule) < std::tie(a.severity, b.subject, b.line, b.rule);
  });
}

/// In a function that the parser did not understand wholly an error may be its misreading: a warning, which says so.
void lower_confidence(const source::Model& model, Findings& findings) {
  struct Lines {
    std::size_t first, last;
    const Function* function;
  };
  std::map<std::string, std::vector<Lines>> damaged;
  for (const auto& function : model.functions()) {
    if (function->node.is_damaged()) {
      const auto& file = *function->file;
      damaged[file.path.string()].push_back(
          {file.place(function->node.begin()).line, file.place(function->node.end()).line, function.get()});
    }
  }
  for (Finding& finding : findings.all) {
    const auto here = damaged.find(finding.subject);
    if (here == damaged.end() || finding.severity != finding::Severity::error || finding.line == 0) {
      continue;
    }
    for (const Lines& lines : here->second) {
      if (finding.severity == finding::Severity::error && finding.line >= lines.first &&
          finding.line <= lines.last) {
        finding.severity = finding::Severity::warning;
        finding.evidence.push_back(
            {"confidence", "the parser did not understand all of " + lines.function->name});
      }
    }
  }
}

/// Of one that was not read: as it lies on disk, and never nothing.
std::size_t size_of(const File& file) {
  if (file.fault.empty() || !file.text.empty()) {
    return file.text.size();
  }
  const auto identity = identity_of(file.path);
  return std::max<std::size_t>(1, identity ? identity->size : 0);
}

} // namespace

std::vector<std::filesystem::path> source_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> next = {directory};
  for (std::size_t index = 0; index < next.size(); ++index) {
    const auto here = next[index];
    if (::access(here.c_str(), R_OK | X_OK) != 0) {
      files.push_back(here); // reading it will say why nothing of it is judged
      continue;
    }
    const std::vector<std::string> names = list_directory(here);
    if (here != directory && is_product(names)) {
      continue;
    }
    for (const std::string& name : names) {
      const auto path = here / name;
      if (name.starts_with('.')) {
        continue;
      }
      const auto identity = identity_of(path);
      if (identity && identity->is_directory()) {
        const bool passed =
            is_any_of(name, {"__pycache__", "build", "node_modules"}) || std::filesystem::is_symlink(path);
        if (!passed) {
          next.push_back(path);
        }
      } else if ((!identity || identity->is_regular()) && (is_cxx(path) || is_python(path))) {
        files.push_back(path); // a link that leads nowhere too
      }
    }
    if (files.size() > most_sources) {
      throw Error(ExitCode::usage,
                  directory.string() + " holds more than " + std::to_string(most_sources) + " sources",
                  "name the directories below it one by one");
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

source::Model read_model(const Request& request, const source::Dialect& dialect) {
  source::Model::Request wanted;
  for (const auto& path : request.files) {
    if (!is_python(path)) { // who names a file of another kind means it
      wanted.files.push_back(path);
    }
  }
  wanted.include_dirs = request.include_dirs;
  wanted.dialect = &dialect;
  wanted.threads = request.threads;
  return source::Model::read(wanted);
}

Report report_of(const Request& request, const source::Model& model, Family family, Findings& findings) {
  lower_confidence(model, findings);
  Report report;
  report.directory = request.directory;
  // Headers elsewhere are read for what they say of these sources; they are judged where they belong.
  std::set<std::string> elsewhere;
  std::size_t bytes = 0;
  double damaged = 0;
  for (const auto& file : model.files()) {
    if (file->is_included) {
      elsewhere.insert(file->path.string());
      continue;
    }
    ++report.files;
    const std::size_t size = size_of(*file);
    bytes += size;
    damaged += file->damage() * static_cast<double>(size);
  }
  findings.remove_if([&elsewhere](const Finding& finding) { return elsewhere.contains(finding.subject); });
  report.allowed = apply_allowances(model, request, family, findings);
  report.findings = std::move(findings.all);
  sort(report.findings);
  report.functions = static_cast<std::size_t>(std::count_if(
      model.functions().begin(), model.functions().end(), [](const auto& one) { return !one->is_macro; }));
  report.understood = bytes == 0 ? 1 : 1 - damaged / static_cast<double>(bytes);
  return report;
}

Report check(const Request& request) {
  const source::Model model = read_model(request, source::hip_dialect());
  const Sources sources(request, model);
  Findings findings(request);
  check_bindings(sources, findings);
  check_launches(sources, findings);
  check_kernels(sources, findings);
  check_barriers(sources, findings);
  check_grid(sources, findings);
  check_streams(sources, findings);
  check_reading(request, model, findings);
  std::vector<ChecklistItem> checklist;
  if (request.release) {
    checklist = check_release(sources, findings);
  }
  Report report = report_of(request, model, Family::hip, findings);
  report.checklist = std::move(checklist);
  for (ChecklistItem& item : report.checklist) {
    item.is_met = std::none_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
      return finding.severity != finding::Severity::note &&
             std::find(item.rules.begin(), item.rules.end(), finding.rule) != item.rules.end();
    });
  }
  return report;
}

nlohmann::json to_json(const Report& report) {
  nlohmann::json document = {{"directory", report.directory.string()}, {"files", report.files},
                             {"functions", report.functions},          {"allowed", report.allowed},
                             {"understood", report.understood},        {"findings", nlohmann::json::array()}};
  for (const Finding& finding : report.findings) {
    document["findings"].push_back(finding::to_json(finding));
  }
  for (const ChecklistItem& item : report.checklist) {
    document["checklist"].push_back({{"text", item.text.en}, {"met", item.is_met}, {"rules", item.rules}});
  }
  return document;
}

} // namespace dcuop::check

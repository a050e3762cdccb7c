#pragma once
// The checks, in the order in which causes outrank each other. A check judges the rules that it names.

#include <string_view>
#include <vector>

#include "case_file.hpp"

namespace dcuop::doctor {

using Findings = std::vector<finding::Finding>;

struct Check {
  std::vector<std::string_view> rules;
  void (*apply)(CaseFile& file, Findings& findings) = nullptr;
};

/// Whether the file can be read at all; nothing else is looked at when one of them finds an error.
[[nodiscard]] std::vector<Check> sanity_checks();
// The others need CaseFile::trace_load().
[[nodiscard]] std::vector<Check> mapping_checks();
/// Which torch the loader really takes, and what has been loaded by then.
[[nodiscard]] std::vector<Check> torch_checks();
[[nodiscard]] std::vector<Check> library_checks();
[[nodiscard]] std::vector<Check> version_checks();
[[nodiscard]] std::vector<Check> symbol_checks();
/// Names that lead to another function than was meant.
[[nodiscard]] std::vector<Check> binding_checks();
[[nodiscard]] std::vector<Check> module_checks();
[[nodiscard]] std::vector<Check> device_checks();
[[nodiscard]] std::vector<Check> runtime_code_checks();
/// What of a toolkit a runtime opens by name, so that no DT_NEEDED tells of it.
[[nodiscard]] std::vector<Check> opened_file_checks();
/// Of the machine; `file` may have no file.
[[nodiscard]] std::vector<Check> environment_checks();

} // namespace dcuop::doctor

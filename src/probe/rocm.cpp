#include <algorithm>
#include <cctype>

#include "dcuop/probe/toolchain.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "rocm_files.hpp"

namespace dcuop::probe {

namespace {

/// The first "25.04" or "25.04.1" in `text`, '_' read as '.'; DTK writes both.
std::string number_in(std::string text) {
  std::replace(text.begin(), text.end(), '_', '.');
  const auto start = text.find_first_of("0123456789");
  if (start == std::string::npos) {
    return {};
  }
  auto number = text.substr(start, text.find_first_not_of("0123456789.", start) - start);
  while (number.ends_with('.')) {
    number.pop_back();
  }
  return number.find('.') == std::string::npos ? std::string() : number;
}

/// DTK numbers its releases by year and month; AMD's ROCm is at 7.
bool is_dtk_number(const std::string& number) {
  return number.find('.') == 2 && number[0] >= '2';
}

std::string number_in_file(const fs::path& path) {
  return number_in(read_file_prefix(path, 4096).value_or(""));
}

/// "/opt/dtk-25.04.1": the number that DTK's installer puts into the directory's name.
std::string number_in_name(const fs::path& root) {
  std::error_code error;
  const auto name = fs::canonical(root, error).filename().string();
  return !error && name.starts_with("dtk") ? number_in(name) : std::string();
}

void read_version(Rocm& rocm, const fs::path& tree) {
  const auto dtk_file = rocm.root / ".dtk_version";
  if (const auto number = number_in_file(inside(tree, dtk_file)); !number.empty()) {
    rocm.is_dtk = true;
    rocm.version = number;
    rocm.version_source = dtk_file;
    return;
  }
  // On a DTK .info/rocm_version holds DTK's number; there .info/version, if any, is not DTK's.
  for (const auto* name : {".info/rocm_version", ".info/version"}) {
    const auto number = number_in_file(inside(tree, rocm.root / name));
    if (!number.empty() &&
        (rocm.version.empty() || is_dtk_number(number) || name == std::string(".info/version"))) {
      rocm.version = number;
      rocm.version_source = rocm.root / name;
    }
    if (is_dtk_number(number)) {
      rocm.is_dtk = true;
      return;
    }
  }
  if (const auto number = number_in_name(rocm.root); is_dtk_number(number)) {
    rocm.is_dtk = true;
    rocm.version = number;
    rocm.version_source = fs::canonical(rocm.root);
  } else if (identity_of(inside(tree, rocm.root / "hip/lib/libgalaxyhip.so")) ||
             identity_of(inside(tree, rocm.root / "hip/lib/libgalaxyhip.so.5"))) {
    rocm.is_dtk = true; // the HIP runtime that only DTK has
  }
}

/// HIP_PATH and hipcc's directory may be the hip part of an installation.
fs::path without_hip_part(const fs::path& path) {
  const auto clean = path.filename().empty() ? path.parent_path() : path;
  return clean.filename() == "hip" ? clean.parent_path() : clean;
}

struct Candidate {
  fs::path root;
  std::string origin;
};

std::vector<Candidate> candidates(const Machine& machine) {
  std::vector<Candidate> all;
  for (const auto* name : {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"}) {
    if (const auto value = machine.environment.get_nonempty(name)) {
      const auto path = below_root(machine.root, absolute_from(*value, machine.working_directory));
      all.push_back({without_hip_part(path), name});
    }
  }
  const auto hipcc = machine.environment.get_nonempty("DCUOP_HIPCC");
  if (machine.is_saved) {
    // what is on PATH is another machine's
  } else if (const auto program = machine.environment.find_program(hipcc.value_or("hipcc"))) {
    const auto path = absolute_from(*program, machine.working_directory);
    all.push_back(
        {without_hip_part(path.parent_path().parent_path()), hipcc ? "DCUOP_HIPCC" : "hipcc on PATH"});
  }
  for (const auto* path : {"/opt/dtk", "/opt/rocm"}) {
    all.push_back({below_root(machine.root, path), path});
  }
  return all;
}

} // namespace

std::optional<Rocm> find_rocm(const Machine& machine) {
  for (const auto& candidate : candidates(machine)) {
    const auto identity = identity_of(candidate.root);
    if (identity && identity->is_directory()) {
      Rocm rocm{candidate.root, candidate.origin, false, {}, {}};
      read_version(rocm, machine.root);
      return rocm;
    }
  }
  return std::nullopt;
}

std::optional<Rocm> toolkit_at(const Machine& machine, const fs::path& path, const std::string& origin) {
  Rocm rocm{inside(machine.root, path), origin, false, {}, {}};
  read_version(rocm, machine.root);
  return rocm.version.empty() && !rocm.is_dtk ? std::nullopt : std::optional(rocm);
}

} // namespace dcuop::probe

#include "inspection.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

/// gfx90a wishes gfx90a with any features, gfx90a:xnack- that one alone.
bool meets(const std::string& target, const std::string& wished) {
  const std::string processor = target.substr(0, target.find(':'));
  return target == wished || processor == wished;
}

bool is_named(const KernelReport& report, const std::string& name) {
  return report.kernel->name == name || report.name == name || short_name(report.name) == name;
}

[[noreturn]] void refuse_kernel(const elf::DeviceFile& file, const std::vector<KernelReport>& all,
                                const std::string& name) {
  std::set<std::string> known;
  for (const KernelReport& report : all) {
    known.insert(short_name(report.name));
  }
  const auto near = nearest(name, {known.begin(), known.end()});
  throw Error(ExitCode::usage,
              file.path.string() + ": has no kernel " + name + (near ? "; did you mean " + *near + "?" : ""),
              "without --kernel all of them are shown");
}

struct Field {
  const char* name;
  bool more_is_better;
  bool judged; ///< takes part in the verdict
  std::optional<std::uint64_t> (*read)(const KernelReport&);
};

template <typename Read> std::optional<std::uint64_t> of_occupancy(const KernelReport& report, Read read) {
  return report.occupancy ? std::optional<std::uint64_t>(read(*report.occupancy)) : std::nullopt;
}

using Number = std::optional<std::uint64_t>;
constexpr std::array<Field, 11> fields = {{
    {"vgprs", false, false, [](const KernelReport& r) -> Number { return r.kernel->vgprs; }},
    {"sgprs", false, false, [](const KernelReport& r) -> Number { return r.kernel->sgprs; }},
    {"agprs", false, false, [](const KernelReport& r) -> Number { return r.kernel->agprs; }},
    {"vgpr_spills", false, true, [](const KernelReport& r) -> Number { return r.kernel->vgpr_spills; }},
    {"sgpr_spills", false, true, [](const KernelReport& r) -> Number { return r.kernel->sgpr_spills; }},
    {"lds_bytes", false, false, [](const KernelReport& r) -> Number { return r.kernel->lds_bytes; }},
    {"scratch_bytes", false, true, [](const KernelReport& r) -> Number { return r.kernel->scratch_bytes; }},
    {"wavefront", false, false, [](const KernelReport& r) -> Number { return r.kernel->wavefront; }},
    {"max_workgroup", true, false, [](const KernelReport& r) -> Number { return r.kernel->max_workgroup; }},
    {"waves_per_eu", true, true,
     [](const KernelReport& r) -> Number {
       return of_occupancy(r, [](const elf::Occupancy& o) { return o.waves_per_eu; });
     }},
    {"waves_per_cu", true, true,
     [](const KernelReport& r) -> Number {
       return of_occupancy(r, [](const elf::Occupancy& o) { return o.waves_per_cu; });
     }},
}};

KernelChange change_of(const KernelReport& before, const KernelReport& after) {
  KernelChange change{&before, &after, {}, Verdict::neutral};
  bool better = false;
  bool worse = false;
  for (const Field& field : fields) {
    const Number old_value = field.read(before);
    const Number new_value = field.read(after);
    if (old_value == new_value) {
      continue;
    }
    change.fields.push_back({field.name, old_value, new_value});
    if (field.judged && old_value && new_value) {
      ((*new_value > *old_value) == field.more_is_better ? better : worse) = true;
    }
  }
  change.verdict = better && worse ? Verdict::mixed
                   : better        ? Verdict::better
                   : worse         ? Verdict::worse
                                   : Verdict::neutral;
  return change;
}

using Key = std::pair<std::string, std::string>; ///< target id, mangled name
std::map<Key, std::vector<const KernelReport*>> by_key(const Inspection& inspection) {
  std::map<Key, std::vector<const KernelReport*>> reports;
  for (const KernelReport& report : inspection.kernels()) {
    reports[{report.object->target, report.kernel->name}].push_back(&report);
  }
  return reports;
}

std::vector<std::string> without(const std::vector<std::string>& all, const std::vector<std::string>& taken) {
  std::vector<std::string> rest;
  std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

} // namespace

Inspection::Inspection(const std::filesystem::path& path, InspectWish wish)
    : file_(elf::read_device_file(path)), wish_(std::move(wish)) {
  const auto& bundles = file_.code.bundles;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    for (const elf::CodeObject& object : bundles[i].code_objects) {
      if (!wants(object)) {
        continue;
      }
      for (const elf::KernelInfo& kernel : object.kernels) {
        kernels_.push_back(report_of(i, object, kernel));
      }
    }
  }
  if (wish_.kernel.empty()) {
    return;
  }
  std::vector<KernelReport> named;
  std::copy_if(kernels_.begin(), kernels_.end(), std::back_inserter(named),
               [&](const KernelReport& report) { return is_named(report, wish_.kernel); });
  if (named.empty()) {
    refuse_kernel(file_, kernels_, wish_.kernel);
  }
  kernels_ = std::move(named);
}

KernelReport Inspection::report_of(std::size_t bundle, const elf::CodeObject& object,
                                   const elf::KernelInfo& kernel) const {
  KernelReport report{bundle, &object, &kernel, elf::demangled(kernel.name), std::nullopt, {}};
  const std::uint32_t threads = wish_.threads != 0 ? wish_.threads : elf::default_threads(kernel);
  if (kernel.max_workgroup != 0 && threads > kernel.max_workgroup) {
    report.unknown = "it takes workgroups of " + std::to_string(kernel.max_workgroup) + " threads at most";
  } else if (threads == 0) {
    report.unknown = "its metadata names no workgroup size (--threads gives one)";
  } else {
    report.occupancy = elf::occupancy_of(object.target, kernel, threads, wish_.dynamic_lds);
    report.unknown = report.occupancy ? "" : elf::why_unknown(object, kernel);
  }
  return report;
}

bool Inspection::wants(const elf::CodeObject& object) const {
  const auto is_wished = [&](const std::string& arch) { return meets(object.target, arch); };
  return !object.is_host() &&
         (wish_.archs.empty() || std::any_of(wish_.archs.begin(), wish_.archs.end(), is_wished));
}

std::vector<std::string> Inspection::targets() const {
  std::set<std::string> targets;
  for (const elf::Bundle& bundle : file_.code.bundles) {
    for (const elf::CodeObject& object : bundle.code_objects) {
      if (wants(object)) {
        targets.insert(object.target.empty() ? elf::mach_text(object.elf_flags) : object.target);
      }
    }
  }
  return {targets.begin(), targets.end()};
}

std::string short_name(const std::string& demangled) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  std::string name = demangled;
  for (auto at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed)) {
    name.erase(at, unnamed.size());
  }
  int depth = 0; // template arguments hold spaces and parentheses of their own
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (depth == 0 && name[i] == '(') {
      return name.substr(begin, i - begin);
    }
    if (depth == 0 && name[i] == ' ') {
      begin = i + 1;
    }
  }
  return begin < name.size() ? name.substr(begin) : name;
}

std::string to_string(Verdict verdict) {
  switch (verdict) {
  case Verdict::better:
    return "better";
  case Verdict::worse:
    return "worse";
  case Verdict::mixed:
    return "mixed";
  case Verdict::neutral:
    break;
  }
  return "neutral";
}

Comparison compare(const Inspection& before, const Inspection& after) {
  Comparison comparison;
  comparison.targets_added = without(after.targets(), before.targets());
  comparison.targets_removed = without(before.targets(), after.targets());
  auto old_reports = by_key(before);
  for (const auto& [key, reports] : by_key(after)) {
    auto& old_ones = old_reports[key];
    const std::size_t shared = std::min(old_ones.size(), reports.size());
    for (std::size_t i = 0; i < shared; ++i) {
      KernelChange change = change_of(*old_ones[i], *reports[i]);
      if (change.fields.empty()) {
        ++comparison.unchanged;
      } else {
        comparison.changed.push_back(std::move(change));
      }
    }
    comparison.added.insert(comparison.added.end(), reports.begin() + static_cast<std::ptrdiff_t>(shared),
                            reports.end());
    old_ones.erase(old_ones.begin(), old_ones.begin() + static_cast<std::ptrdiff_t>(shared));
  }
  for (const auto& [key, reports] : old_reports) {
    comparison.removed.insert(comparison.removed.end(), reports.begin(), reports.end());
  }
  return comparison;
}

} // namespace dcuop::cli

#include "inspect_view.hpp"

#include <algorithm>
#include <set>

#include "dcuop/support/terminal.hpp"
#include "dcuop/support/text.hpp"
#include "table.hpp"

namespace dcuop::cli {

namespace {

constexpr std::size_t name_width = 36;

std::string cell(std::uint64_t number) {
  return number == 0 ? "-" : std::to_string(number);
}

std::string bytes_cell(std::uint64_t bytes) {
  return bytes == 0 ? "-" : human_size(bytes);
}

std::string target_cell(const elf::CodeObject& object) {
  return object.target.empty() ? elf::mach_text(object.elf_flags) : object.target;
}

std::string units_of(const elf::DeviceFile& file) {
  const auto& code = file.code;
  switch (file.form) {
  case elf::DeviceFile::Form::code_object:
    return "code object";
  case elf::DeviceFile::Form::bundle:
    return counted(code.bundles.size(), "offload bundle");
  case elf::DeviceFile::Form::relocatable:
  case elf::DeviceFile::Form::shared_object:
    break;
  }
  std::string text = counted(code.bundles.size(), "unit");
  if (code.found_by_scan) {
    text += " (no section headers: found by their magic)";
  } else if (code.registered != code.bundles.size() && code.has_fatbin_section) {
    text += ", but " + std::to_string(code.registered) + " in .hipFatBinSegment";
  }
  return text;
}

std::string headline(const Inspection& inspection, const Environment& environment) {
  const auto& file = inspection.file();
  const auto targets = inspection.targets();
  std::string text = shortened(file.path, environment) + ": ";
  if (file.code.bundles.empty()) {
    return text +
           (file.code.has_cuda_fatbin ? "a CUDA build, with no AMD or DCU device code" : "no device code");
  }
  text += units_of(file) + ", ";
  const auto& archs = inspection.wish().archs;
  if (!targets.empty()) {
    return text + "device code for " + join(targets, ", ") + (archs.empty() ? "" : " (--arch)");
  }
  if (archs.empty()) {
    return text + "no device code";
  }
  const auto others = file.code.targets();
  return text + "no device code for " + join(archs, ", ") +
         (others.empty() ? "" : ", only for " + join(others, ", "));
}

std::string packing_text(const elf::Bundle& bundle) {
  switch (bundle.packing) {
  case elf::Packing::plain:
    return "plain";
  case elf::Packing::ccob_zlib:
    return "CCOB v" + std::to_string(bundle.ccob_version) + " zlib";
  case elf::Packing::ccob_zstd:
    return "CCOB v" + std::to_string(bundle.ccob_version) + " zstd";
  case elf::Packing::bare:
    return "code object";
  case elf::Packing::rdc_sections:
    return "-fgpu-rdc sections";
  case elf::Packing::unknown:
    break;
  }
  return "unknown format";
}

std::string object_text(const elf::CodeObject& object) {
  std::string text = target_cell(object);
  if (object.target == "amdgcnspirv") {
    text += " (SPIR-V";
  } else if (object.code_object_version > 0) {
    text += " (V" + std::to_string(object.code_object_version);
  } else {
    text += " (not ELF";
  }
  return text + ", " + human_size(object.size) + ")";
}

std::string bundle_line(const Inspection& inspection, const elf::Bundle& bundle, std::size_t number) {
  std::vector<std::string> objects;
  for (const elf::CodeObject& object : bundle.code_objects) {
    if (inspection.wants(object)) {
      objects.push_back(object_text(object));
    }
  }
  std::string line =
      "unit " + std::to_string(number) + "  " + packing_text(bundle) + ", " + human_size(bundle.size);
  if (bundle.packing != elf::Packing::bare && bundle.packing != elf::Packing::rdc_sections) {
    line += " at " + std::to_string(bundle.offset);
  }
  return line + (objects.empty() ? "" : ": " + join(objects, ", "));
}

/// What is wrong with the bundle's parts, or missing of them.
std::vector<std::string> remarks_on(const Inspection& inspection, const elf::Bundle& bundle) {
  std::vector<std::string> remarks;
  if (!bundle.problem.empty()) {
    remarks.push_back(bundle.problem);
  }
  for (const elf::CodeObject& object : bundle.code_objects) {
    if (!inspection.wants(object)) {
      continue;
    }
    if (!object.problem.empty()) {
      remarks.push_back(target_cell(object) + ": " + object.problem);
    } else if (object.target == "amdgcnspirv") {
      remarks.push_back("amdgcnspirv: SPIR-V, compiled when it is loaded: no kernel table yet");
    } else if (object.code_object_version == 2) {
      remarks.push_back(target_cell(object) + ": code object v2: no kernel table");
    } else if (object.kernels.empty()) {
      remarks.push_back(target_cell(object) + ": no kernels");
    }
  }
  return remarks;
}

struct Columns {
  bool agprs = false;
};

std::vector<std::string> head_cells(const Columns& columns) {
  std::vector<std::string> cells{"  kernel", "arch", "VGPR", "SGPR"};
  if (columns.agprs) {
    cells.emplace_back("AGPR");
  }
  for (const char* name : {"spilled", "LDS", "scratch", "threads", "waves/EU", "blocks/CU", "limited by"}) {
    cells.emplace_back(name);
  }
  return cells;
}

std::string spills_cell(const elf::KernelInfo& kernel) {
  std::vector<std::string> parts;
  if (kernel.vgpr_spills > 0) {
    parts.push_back(std::to_string(kernel.vgpr_spills) + "v");
  }
  if (kernel.sgpr_spills > 0) {
    parts.push_back(std::to_string(kernel.sgpr_spills) + "s");
  }
  return parts.empty() ? "-" : join(parts, " ");
}

std::string limiter_text(const elf::Occupancy& occupancy) {
  if (occupancy.limiter == elf::Limiter::wave_slots) {
    return to_string(occupancy.limiter);
  }
  const std::string name = to_string(occupancy.limiter);
  if (occupancy.limiter == elf::Limiter::lds) {
    return name + ": " + human_size(occupancy.used) + " of " + human_size(occupancy.available);
  }
  if (occupancy.limiter == elf::Limiter::barriers) {
    return name + ": " + std::to_string(occupancy.available);
  }
  return name + ": " + std::to_string(occupancy.used) + " of " + std::to_string(occupancy.available);
}

std::vector<std::string> kernel_cells(const KernelReport& report, const Columns& columns) {
  const elf::KernelInfo& kernel = *report.kernel;
  std::vector<std::string> cells{"  " + cut_to_width(short_name(report.name), name_width),
                                 target_cell(*report.object), cell(kernel.vgprs), cell(kernel.sgprs)};
  if (columns.agprs) {
    cells.push_back(cell(kernel.agprs));
  }
  cells.push_back(spills_cell(kernel));
  cells.push_back(bytes_cell(kernel.lds_bytes));
  cells.push_back(bytes_cell(kernel.scratch_bytes) +
                  (kernel.dynamic_stack.value_or(false) ? " + stack" : ""));
  if (!report.occupancy) {
    for (const std::string& text :
         {cell(elf::default_threads(kernel)), std::string("?"), std::string("?"), std::string("unknown")}) {
      cells.push_back(text);
    }
    return cells;
  }
  const elf::Occupancy& occupancy = *report.occupancy;
  cells.push_back(std::to_string(occupancy.threads));
  cells.push_back(std::to_string(occupancy.waves_per_eu) + " of " + std::to_string(occupancy.limits.waves));
  cells.push_back(std::to_string(occupancy.blocks_per_cu) + (occupancy.limits.is_wgp ? " (WGP)" : ""));
  cells.push_back(limiter_text(occupancy));
  return cells;
}

std::string triple_text(const std::array<std::uint32_t, 3>& sizes) {
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
}

void print_details(Terminal& terminal, const KernelReport& report) {
  const elf::KernelInfo& kernel = *report.kernel;
  std::vector<std::string> parts{"wave" + std::to_string(kernel.wavefront),
                                 "kernarg " + human_size(kernel.kernarg_bytes),
                                 "workgroup up to " + std::to_string(kernel.max_workgroup)};
  if (kernel.required_workgroup[0] != 0) {
    parts.push_back("requires " + triple_text(kernel.required_workgroup));
  }
  if (kernel.max_workgroups[0] != 0) {
    parts.push_back("grid up to " + triple_text(kernel.max_workgroups));
  }
  if (kernel.uniform_workgroup) {
    parts.emplace_back(*kernel.uniform_workgroup ? "uniform workgroups" : "any grid size");
  }
  if (kernel.wgp_mode) {
    parts.emplace_back(*kernel.wgp_mode ? "WGP mode" : "CU mode");
  }
  if (report.occupancy) {
    parts.push_back(counted(report.occupancy->waves_per_cu, "wave") + " of " +
                    std::to_string(report.occupancy->limits.waves * report.occupancy->limits.units) + " a " +
                    (report.occupancy->limits.is_wgp ? "WGP" : "CU"));
  }
  terminal.answer(terminal.styled("      " + report.name, Style::dim));
  terminal.answer(terminal.styled("      " + kernel.name, Style::dim));
  terminal.answer(terminal.styled("      " + join(parts, ", "), Style::dim));
}

bool is_costly(const elf::KernelInfo& kernel) {
  return kernel.vgpr_spills > 0 || kernel.sgpr_spills > 0 || kernel.scratch_bytes > 0;
}

void print_notes(Terminal& terminal, const Inspection& inspection) {
  const auto& file = inspection.file();
  if (file.truncated) {
    terminal.answer(terminal.styled("the file is cut off", Style::red));
  }
  if (file.code.has_cuda_fatbin && !file.code.bundles.empty()) {
    terminal.answer("it holds CUDA code too (.nv_fatbin)");
  }
  if (file.code.has_rdc_leftover) {
    terminal.answer(terminal.styled("-fgpu-rdc code that was not linked with --hip-link", Style::yellow));
  }
  if (file.has_offloading_section) {
    terminal.answer("its .llvm.offloading section (clang's new driver) is not read");
  }
  std::set<std::string> reasons;
  for (const KernelReport& report : inspection.kernels()) {
    if (!report.unknown.empty()) {
      reasons.insert(report.unknown);
    }
  }
  for (const std::string& reason : reasons) {
    terminal.answer(terminal.styled("occupancy unknown: " + reason, Style::dim));
  }
}

std::string value_text(const FieldChange& change, const std::optional<std::uint64_t>& value) {
  return !value ? "unknown" : change.field.ends_with("_bytes") ? human_size(*value) : std::to_string(*value);
}

std::string field_text(const FieldChange& change) {
  static const std::map<std::string, std::string> words = {{"vgprs", "VGPRs"},
                                                           {"sgprs", "SGPRs"},
                                                           {"agprs", "AGPRs"},
                                                           {"vgpr_spills", "spilled VGPRs"},
                                                           {"sgpr_spills", "spilled SGPRs"},
                                                           {"lds_bytes", "LDS"},
                                                           {"scratch_bytes", "scratch"},
                                                           {"wavefront", "wavefront"},
                                                           {"max_workgroup", "largest workgroup"},
                                                           {"waves_per_eu", "waves/EU"},
                                                           {"waves_per_cu", "waves/CU"}};
  return words.at(change.field) + " " + value_text(change, change.before) + " -> " +
         value_text(change, change.after);
}

Style style_of(Verdict verdict) {
  switch (verdict) {
  case Verdict::better:
    return Style::green;
  case Verdict::worse:
    return Style::red;
  case Verdict::mixed:
    return Style::yellow;
  case Verdict::neutral:
    break;
  }
  return Style::plain;
}

using Reports = std::vector<const KernelReport*>;

/// An arch that came or went as a whole is said once, not for each of its kernels.
Reports of_other_targets(const Reports& reports, const std::vector<std::string>& targets) {
  Reports others;
  std::copy_if(reports.begin(), reports.end(), std::back_inserter(others), [&](const KernelReport* report) {
    return std::find(targets.begin(), targets.end(), target_cell(*report->object)) == targets.end();
  });
  return others;
}

void print_archs(Terminal& terminal, const std::string& what, const std::vector<std::string>& targets,
                 const Reports& reports) {
  for (const std::string& target : targets) {
    const auto kernels = std::count_if(reports.begin(), reports.end(), [&](const KernelReport* report) {
      return target_cell(*report->object) == target;
    });
    terminal.answer(what + " " + target + ", " + counted(static_cast<std::uint64_t>(kernels), "kernel"));
  }
}

} // namespace

void print_inspection(Terminal& terminal, const Inspection& inspection, const Environment& environment) {
  terminal.answer(headline(inspection, environment));
  const auto& kernels = inspection.kernels();
  const Columns columns{std::any_of(kernels.begin(), kernels.end(),
                                    [](const KernelReport& report) { return report.kernel->agprs > 0; })};
  std::vector<std::vector<std::string>> rows{head_cells(columns)};
  for (const KernelReport& report : kernels) {
    rows.push_back(kernel_cells(report, columns));
  }
  const std::vector<std::string> lines = aligned(rows);
  if (!kernels.empty()) {
    terminal.answer(terminal.styled(lines.front(), Style::bold));
  }
  const auto& bundles = inspection.file().code.bundles;
  std::size_t next = 0; // kernels come in the order of their bundles
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    terminal.answer(bundle_line(inspection, bundles[i], i + 1));
    for (const std::string& remark : remarks_on(inspection, bundles[i])) {
      terminal.answer("  " + terminal.styled(remark, Style::yellow));
    }
    for (; next < kernels.size() && kernels[next].bundle == i; ++next) {
      const bool costly = is_costly(*kernels[next].kernel);
      terminal.answer(terminal.styled(lines[next + 1], costly ? Style::yellow : Style::plain));
      if (terminal.options().verbose) {
        print_details(terminal, kernels[next]);
      }
    }
  }
  print_notes(terminal, inspection);
}

void print_launch(Terminal& terminal, const Grid& grid, const std::vector<LaunchVerdict>& verdicts) {
  terminal.answer("cooperative launch of " + counted(grid.blocks, "block") + " x " +
                  counted(grid.threads, "thread") + ":");
  std::vector<std::vector<std::string>> rows;
  for (const LaunchVerdict& verdict : verdicts) {
    rows.push_back({"  " + cut_to_width(short_name(verdict.report->name), name_width),
                    target_cell(*verdict.report->object),
                    verdict.fits == Fits::yes  ? "fits"
                    : verdict.fits == Fits::no ? "does not fit"
                                               : "unknown",
                    verdict.reason});
  }
  const auto lines = aligned(rows);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Style style = verdicts[i].fits == Fits::no ? Style::red : Style::plain;
    terminal.answer(terminal.styled(lines[i], style));
  }
}

void print_comparison(Terminal& terminal, const Comparison& comparison) {
  print_archs(terminal, "arch added", comparison.targets_added, comparison.added);
  print_archs(terminal, "arch removed", comparison.targets_removed, comparison.removed);
  std::vector<std::vector<std::string>> rows;
  std::vector<Style> styles;
  const auto add = [&](const char* what, const KernelReport& report, std::string text, Style style) {
    rows.push_back({what, cut_to_width(short_name(report.name), name_width), target_cell(*report.object),
                    std::move(text)});
    styles.push_back(style);
  };
  for (const KernelReport* report : of_other_targets(comparison.added, comparison.targets_added)) {
    add("added", *report, "", Style::plain);
  }
  for (const KernelReport* report : of_other_targets(comparison.removed, comparison.targets_removed)) {
    add("removed", *report, "", Style::plain);
  }
  for (const KernelChange& change : comparison.changed) {
    std::vector<std::string> parts;
    std::transform(change.fields.begin(), change.fields.end(), std::back_inserter(parts), field_text);
    const bool judged = change.verdict != Verdict::neutral;
    add(judged ? to_string(change.verdict).c_str() : "changed", *change.after, join(parts, ", "),
        style_of(change.verdict));
  }
  const auto lines = aligned(rows);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    terminal.answer(terminal.styled(lines[i].substr(0, lines[i].find_last_not_of(' ') + 1), styles[i]));
  }
  terminal.answer(counted(comparison.changed.size(), "kernel") + " changed, " +
                  std::to_string(comparison.added.size()) + " added, " +
                  std::to_string(comparison.removed.size()) + " removed, " +
                  std::to_string(comparison.unchanged) + " with the same numbers");
}

} // namespace dcuop::cli

#include "inspect_json.hpp"

#include <nlohmann/json.hpp>

namespace dcuop::cli {

namespace {

using nlohmann::json;

template <typename T> json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json or_null(const std::string& text) {
  return text.empty() ? json() : json(text);
}

json or_null(const std::array<std::uint32_t, 3>& sizes) {
  return sizes[0] == 0 ? json() : json(sizes);
}

std::string form_name(elf::DeviceFile::Form form) {
  switch (form) {
  case elf::DeviceFile::Form::relocatable:
    return "relocatable";
  case elf::DeviceFile::Form::code_object:
    return "code_object";
  case elf::DeviceFile::Form::bundle:
    return "bundle";
  case elf::DeviceFile::Form::shared_object:
    break;
  }
  return "shared_object";
}

std::string format_name(elf::Packing packing) {
  switch (packing) {
  case elf::Packing::plain:
    return "plain";
  case elf::Packing::ccob_zlib:
  case elf::Packing::ccob_zstd:
    return "ccob";
  case elf::Packing::bare:
    return "code_object";
  case elf::Packing::rdc_sections:
    return "rdc_sections";
  case elf::Packing::unknown:
    break;
  }
  return "unknown";
}

json compression_name(elf::Packing packing) {
  return packing == elf::Packing::ccob_zlib   ? json("zlib")
         : packing == elf::Packing::ccob_zstd ? json("zstd")
                                              : json();
}

std::string limiter_name(elf::Limiter limiter) {
  switch (limiter) {
  case elf::Limiter::vgprs:
    return "vgprs";
  case elf::Limiter::sgprs:
    return "sgprs";
  case elf::Limiter::lds:
    return "lds";
  case elf::Limiter::barriers:
    return "barriers";
  case elf::Limiter::wave_slots:
    break;
  }
  return "wave_slots";
}

std::string hex(std::uint32_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (; number != 0; number /= 16) {
    text.insert(text.begin(), digits[number % 16]);
  }
  return "0x" + (text.empty() ? "0" : text);
}

json to_json(const elf::Occupancy& occupancy) {
  return {{"threads", occupancy.threads},
          {"unit", occupancy.limits.is_wgp ? "WGP" : "CU"},
          {"waves_per_eu", occupancy.waves_per_eu},
          {"max_waves_per_eu", occupancy.limits.waves},
          {"blocks_per_unit", occupancy.blocks_per_cu},
          {"waves_per_unit", occupancy.waves_per_cu},
          {"max_waves_per_unit", occupancy.limits.waves * occupancy.limits.units},
          {"limited_by", limiter_name(occupancy.limiter)},
          {"used", occupancy.used},
          {"available", occupancy.available}};
}

json to_json(const KernelReport& report) {
  const elf::KernelInfo& kernel = *report.kernel;
  return {{"name", kernel.name},
          {"demangled", report.name},
          {"vgprs", kernel.vgprs},
          {"sgprs", kernel.sgprs},
          {"agprs", kernel.agprs},
          {"vgpr_spills", kernel.vgpr_spills},
          {"sgpr_spills", kernel.sgpr_spills},
          {"lds_bytes", kernel.lds_bytes},
          {"scratch_bytes", kernel.scratch_bytes},
          {"dynamic_stack", or_null(kernel.dynamic_stack)},
          {"kernarg_bytes", kernel.kernarg_bytes},
          {"wavefront", kernel.wavefront},
          {"max_workgroup", kernel.max_workgroup},
          {"required_workgroup", or_null(kernel.required_workgroup)},
          {"max_workgroups", or_null(kernel.max_workgroups)},
          {"uniform_workgroup", or_null(kernel.uniform_workgroup)},
          {"wgp_mode", or_null(kernel.wgp_mode)},
          {"occupancy", report.occupancy ? to_json(*report.occupancy) : json()},
          {"occupancy_unknown", or_null(report.unknown)}};
}

std::string kind_of(const elf::CodeObject& object) {
  return object.target == "amdgcnspirv" ? "spirv" : object.code_object_version > 0 ? "elf" : "unknown";
}

json to_json(const elf::CodeObject& object, const Inspection& inspection) {
  json kernels = json::array();
  for (const KernelReport& report : inspection.kernels()) {
    if (report.object == &object) {
      kernels.push_back(to_json(report));
    }
  }
  const bool is_elf = object.code_object_version > 0;
  return {{"entry_id", or_null(object.entry_id)},
          {"target", or_null(object.target)},
          {"kind", kind_of(object)},
          {"offset", object.offset},
          {"size", object.size},
          {"code_object_version", is_elf ? json(object.code_object_version) : json()},
          {"elf_flags", is_elf ? json(hex(object.elf_flags)) : json()},
          {"mach", is_elf ? json(elf::mach_text(object.elf_flags)) : json()},
          {"has_kernel_table", object.code_object_version > 2 && object.problem.empty()},
          {"problem", or_null(object.problem)},
          {"kernels", std::move(kernels)}};
}

json to_json(const elf::Bundle& bundle, std::size_t number, const Inspection& inspection) {
  json objects = json::array();
  for (const elf::CodeObject& object : bundle.code_objects) {
    if (inspection.wants(object)) {
      objects.push_back(to_json(object, inspection));
    }
  }
  return {{"index", number},
          {"offset", bundle.offset},
          {"size", bundle.size},
          {"format", format_name(bundle.packing)},
          {"compression", compression_name(bundle.packing)},
          {"ccob_version", bundle.ccob_version > 0 ? json(bundle.ccob_version) : json()},
          {"problem", or_null(bundle.problem)},
          {"code_objects", std::move(objects)}};
}

json kernel_id(const KernelReport& report) {
  return {{"target", or_null(report.object->target)},
          {"name", report.kernel->name},
          {"demangled", report.name},
          {"unit", report.bundle + 1}};
}

json list_of(const std::vector<const KernelReport*>& reports) {
  json list = json::array();
  for (const KernelReport* report : reports) {
    list.push_back(kernel_id(*report));
  }
  return list;
}

} // namespace

json inspection_json(const Inspection& inspection) {
  const elf::DeviceFile& file = inspection.file();
  json bundles = json::array();
  for (std::size_t i = 0; i < file.code.bundles.size(); ++i) {
    bundles.push_back(to_json(file.code.bundles[i], i + 1, inspection));
  }
  return {{"path", file.path.string()},
          {"form", form_name(file.form)},
          {"truncated", file.truncated},
          {"targets", inspection.targets()},
          {"registered", file.code.has_fatbin_section ? json(file.code.registered) : json()},
          {"found_by_scan", file.code.found_by_scan},
          {"has_cuda_fatbin", file.code.has_cuda_fatbin},
          {"has_rdc_leftover", file.code.has_rdc_leftover},
          {"has_offloading_section", file.has_offloading_section},
          {"bundles", std::move(bundles)}};
}

json launch_json(const Grid& grid, const std::vector<LaunchVerdict>& verdicts) {
  json kernels = json::array();
  for (const LaunchVerdict& verdict : verdicts) {
    json one = kernel_id(*verdict.report);
    one["fits"] = to_string(verdict.fits);
    one["cus"] = verdict.cus > 0 ? json(verdict.cus) : json();
    one["cus_from"] = or_null(verdict.cus_from);
    one["capacity"] = or_null(verdict.capacity);
    one["reason"] = verdict.reason;
    kernels.push_back(std::move(one));
  }
  return {{"blocks", grid.blocks}, {"threads", grid.threads}, {"kernels", std::move(kernels)}};
}

json comparison_json(const Comparison& comparison) {
  json changed = json::array();
  for (const KernelChange& change : comparison.changed) {
    json one = kernel_id(*change.after);
    one["verdict"] = to_string(change.verdict);
    for (const FieldChange& field : change.fields) {
      one["changes"][field.field] = {{"before", or_null(field.before)}, {"after", or_null(field.after)}};
    }
    changed.push_back(std::move(one));
  }
  return {{"targets_added", comparison.targets_added},  {"targets_removed", comparison.targets_removed},
          {"kernels_added", list_of(comparison.added)}, {"kernels_removed", list_of(comparison.removed)},
          {"kernels_changed", std::move(changed)},      {"kernels_unchanged", comparison.unchanged}};
}

} // namespace dcuop::cli

// DCU3xx: the device code, bundle by bundle, against each device.
#include <algorithm>
#include <map>
#include <set>

#include "check_device.hpp"
#include "checks.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

/// How well a bundle serves a device.
enum class Service { exact, indirect, xnack, sramecc, none };

Service service_of(elf::Fit fit) {
  switch (fit) {
  case elf::Fit::match:
    return Service::exact;
  case elf::Fit::generic_match:
  case elf::Fit::spirv:
    return Service::indirect;
  case elf::Fit::xnack_conflict:
    return Service::xnack;
  case elf::Fit::sramecc_conflict:
    return Service::sramecc;
  case elf::Fit::wrong_processor:
    break;
  }
  return Service::none;
}

std::vector<const elf::CodeObject*> device_objects(const elf::Bundle& bundle) {
  std::vector<const elf::CodeObject*> objects;
  for (const auto& object : bundle.code_objects) {
    if (!object.is_host() && object.size > 0) {
      objects.push_back(&object);
    }
  }
  return objects;
}

/// Bundles that can be judged: readable, and not of a unit that has no device side.
std::vector<const elf::Bundle*> judged_bundles(const elf::DeviceCode& code) {
  std::vector<const elf::Bundle*> bundles;
  for (const auto& bundle : code.bundles) {
    const bool host_only = !bundle.code_objects.empty() &&
                           std::all_of(bundle.code_objects.begin(), bundle.code_objects.end(),
                                       [](const elf::CodeObject& object) { return object.is_host(); });
    if (bundle.problem.empty() && !host_only) {
      bundles.push_back(&bundle);
    }
  }
  return bundles;
}

std::string targets_text(const elf::Bundle& bundle) {
  std::set<std::string> targets;
  for (const auto* object : device_objects(bundle)) {
    targets.insert(object->target);
  }
  return targets.empty() ? "no target" : join({targets.begin(), targets.end()}, ", ");
}

std::string all_targets_text(const elf::DeviceCode& code) {
  const auto targets = code.targets();
  return targets.empty() ? "no target" : join(targets, ", ");
}

/// The kernel's own name: without an unnamed namespace before it, template arguments or parameters behind it.
std::string kernel_name(const std::string& mangled) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  auto name = elf::demangled(mangled);
  for (auto at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed)) {
    name.erase(at, unnamed.size());
  }
  name.erase(std::min({name.find('('), name.find('<'), name.size()}));
  const auto space = name.rfind(' '); // a template's demangled name begins with its return type
  return space == std::string::npos ? name : name.substr(space + 1);
}

/// "unit 2 (kernel scale_bias): gfx906": a unit has no name in the file, its first kernel has one.
std::string unit_text(const elf::DeviceCode& code, const elf::Bundle& bundle) {
  std::string text = "unit " + std::to_string(&bundle - code.bundles.data() + 1);
  for (const auto* object : device_objects(bundle)) {
    if (!object->kernels.empty()) {
      text += " (kernel " + kernel_name(object->kernels.front().name) + ")";
      break;
    }
  }
  return text + ": " + targets_text(bundle);
}

Service best_service(const elf::Bundle& bundle, const elf::TargetId& device) {
  auto best = Service::none;
  for (const auto* object : device_objects(bundle)) {
    if (object->target == "amdgcnspirv") {
      best = std::min(best, Service::indirect);
    } else if (const auto code = elf::TargetId::parse(object->target)) {
      best = std::min(best, service_of(elf::fit_of(*code, device)));
    }
  }
  return best;
}

/// Bundles by how they serve one device.
using Services = std::map<Service, std::vector<const elf::Bundle*>>;

std::size_t count_of(const Services& services, Service service) {
  const auto found = services.find(service);
  return found == services.end() ? 0 : found->second.size();
}

std::string_view rule_for(const Services& services, std::size_t bundles) {
  const auto served = count_of(services, Service::exact) + count_of(services, Service::indirect);
  if (served == bundles) {
    return count_of(services, Service::exact) == bundles ? "" : "DCU311";
  }
  if (count_of(services, Service::xnack) > 0 && count_of(services, Service::none) == 0) {
    return "DCU303";
  }
  if (count_of(services, Service::sramecc) > 0 && count_of(services, Service::none) == 0) {
    return "DCU304";
  }
  return served == 0 ? "DCU301" : "DCU302";
}

/// The variable that has the device pass for another, and what it really is.
void add_disguise(const CaseFile& file, const std::string& device, finding::Finding& finding) {
  const auto& devices = file.facts.devices;
  const auto disguised =
      std::find_if(devices.devices.begin(), devices.devices.end(), [&device](const probe::Device& known) {
        return known.target_id == device && !known.chip.empty() && known.chip != device;
      });
  if (!file.question.archs.empty() || disguised == devices.devices.end() || devices.overrides.empty()) {
    return;
  }
  const auto& set = devices.overrides.front();
  finding.evidence.push_back(
      {"so", set.variable + "=" + set.value + " has the chip, " + disguised->chip + ", pass for it"});
}

std::string origin_text(const CaseFile& file, const std::string& device) {
  if (!file.question.archs.empty()) {
    return device + " (--arch)";
  }
  std::map<std::string, int> sources;
  int count = 0;
  for (const auto& known : file.facts.devices.devices) {
    if (known.target_id == device) {
      ++count;
      ++sources[known.source];
    }
  }
  std::vector<std::string> names;
  names.reserve(sources.size());
  for (const auto& [source, devices] : sources) {
    names.push_back(source);
  }
  return std::to_string(count) + " x " + device + " (" + join(names, ", ") + ")";
}

/// Of the file's own code, and of a library's that it brings only when no unit of it is served: what of a
/// large library is called is not known.
void judge_device(CaseFile& file, const elf::Image& image, const elf::DeviceCode& code,
                  const std::string& device, Findings& findings) {
  const auto target = elf::TargetId::parse(device);
  const auto bundles = judged_bundles(code);
  if (!target || bundles.empty()) {
    return;
  }
  Services services;
  for (const auto* bundle : bundles) {
    services[best_service(*bundle, *target)].push_back(bundle);
  }
  const auto rule = rule_for(services, bundles.size());
  const bool its_own = &image == file.image;
  const auto served = count_of(services, Service::exact) + count_of(services, Service::indirect);
  if (rule.empty() || (!its_own && served > 0)) {
    return;
  }
  const auto library = image.path.filename().string();
  auto finding = file.finding(rule, {{"who", its_own ? "it" : library},
                                     {"who:zh", its_own ? "它" : library + " "},
                                     {"where", its_own ? "" : " in " + library},
                                     {"where:zh", its_own ? "" : library + " 的"},
                                     {"device", device},
                                     {"targets", all_targets_text(code)},
                                     {"missing", std::to_string(bundles.size() - served)},
                                     {"count", std::to_string(bundles.size())}});
  if (!its_own) {
    finding.evidence.push_back({"wanted by", library + ", which " + file.file_name + " needs"});
  }
  finding.evidence.push_back({"devices", origin_text(file, device)});
  add_disguise(file, device, finding);
  // The units without code are the point; with none served they are all listed.
  constexpr std::size_t shown = 6;
  std::size_t listed = 0;
  for (const auto service :
       {Service::none, Service::xnack, Service::sramecc, Service::indirect, Service::exact}) {
    for (const auto* bundle : services[service]) {
      if (listed++ < shown) {
        finding.evidence.push_back({"code for", unit_text(code, *bundle)});
      }
    }
  }
  if (listed > shown) {
    finding.evidence.push_back({"code for", counted(listed - shown, "more unit")});
  }
  if (its_own) {
    file.fix_by_building(finding,
                         "--arch " + (rule == "DCU303" || rule == "DCU304" ? target->processor : device));
  } else {
    finding.fix = "install or build " + library + " for " + target->processor;
    finding.chinese.fix = "安装或编译面向 " + target->processor + " 的 " + library;
  }
  findings.push_back(std::move(finding));
}

bool registers_code(const elf::Image& image) {
  return std::any_of(image.symbols.begin(), image.symbols.end(), [](const elf::Symbol& symbol) {
    return !symbol.defined && symbol.name == "__hipRegisterFatBinary";
  });
}

/// Libraries that this load brings; torch's own are another matter.
void judge_libraries(CaseFile& file, const std::vector<std::string>& devices, Findings& findings) {
  for (const auto& newcomer : file.newcomers) {
    if (devices.empty() || newcomer.image == file.image || !registers_code(*newcomer.image)) {
      continue;
    }
    const auto code = elf::read_device_code(*newcomer.image);
    for (const auto& device : devices) {
      judge_device(file, *newcomer.image, code, device, findings);
    }
  }
}

void check_fit(CaseFile& file, Findings& findings) {
  const auto devices = judged_devices(file);
  judge_libraries(file, devices, findings);
  if (!has_hip_code(file)) {
    return;
  }
  for (const auto& device : devices) {
    judge_device(file, *file.image, file.device_code, device, findings);
  }
  if (devices.empty()) {
    auto finding = file.finding("DCU305", {{"targets", all_targets_text(file.device_code)}});
    for (const auto& source : file.facts.devices.sources) {
      finding.evidence.push_back({"asked", source});
    }
    finding.fix = finding.chinese.fix = "dcuop doctor " + file.path.string() + " --arch ARCH";
    findings.push_back(std::move(finding));
  }
}

void check_cuda(CaseFile& file, Findings& findings) {
  const bool hip = has_hip_code(file);
  const bool nvidia = std::any_of(file.facts.devices.devices.begin(), file.facts.devices.devices.end(),
                                  [](const probe::Device& device) { return device.source == "nvidia-smi"; });
  const bool cuda_machine = nvidia || (file.facts.torch && !file.facts.torch->cuda.empty());
  if (!file.device_code.has_cuda_fatbin || hip || (cuda_machine && file.question.archs.empty())) {
    return;
  }
  auto finding = file.finding("DCU306", {{"alone", " and no HIP code"}, {"alone:zh", "，没有 HIP 代码"}});
  if (file.facts.torch) {
    finding.evidence.push_back({"offered", "torch " + file.facts.torch->summary()});
  }
  finding.fix =
      "install the package's DTK (+das...dtk) or ROCm wheel, or build it from source with dcuop build";
  finding.chinese.fix = "安装该软件包的 DTK（+das...dtk）或 ROCm wheel，或用 dcuop build 从源码编译";
  findings.push_back(std::move(finding));
}

constexpr int newest_known_version = 6; // of code objects, as read_code_object() reads them

/// Whether a device that is judged can be served by nothing in the bundle but this object, which is damaged.
bool depended_on(const CaseFile& file, const elf::Bundle& bundle, const elf::CodeObject& damaged) {
  const auto objects = device_objects(bundle);
  const auto serves = [](const elf::CodeObject& object, const elf::TargetId& device) {
    const auto code = elf::TargetId::parse(object.target);
    return code && elf::fits(elf::fit_of(*code, device));
  };
  const auto devices = judged_devices(file);
  return std::any_of(devices.begin(), devices.end(), [&](const std::string& text) {
    const auto device = elf::TargetId::parse(text);
    return device && serves(damaged, *device) &&
           std::none_of(objects.begin(), objects.end(), [&](const elf::CodeObject* object) {
             return object->problem.empty() && serves(*object, *device);
           });
  });
}

void check_bundles(CaseFile& file, Findings& findings) {
  const auto& bundles = file.device_code.bundles;
  const auto count = std::to_string(bundles.size());
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const auto number = std::to_string(i + 1);
    if (!bundles[i].problem.empty()) {
      auto finding =
          file.finding("DCU307", {{"number", number}, {"count", count}, {"reason", bundles[i].problem}});
      // What this program does not know the runtime may well know: no verdict then.
      const bool unknown = bundles[i].packing == elf::Packing::unknown || bundles[i].ccob_version > 3;
      finding.severity = unknown ? Severity::warning : Severity::error;
      file.fix_by_building(finding, "--force");
      findings.push_back(std::move(finding));
      continue;
    }
    for (const auto* object : device_objects(bundles[i])) {
      if (!object->problem.empty()) {
        findings.push_back(file.finding(
            "DCU309", {{"number", number}, {"entry", object->entry_id}, {"reason", object->problem}}));
        // A version that this program does not know the runtime may know: DCU312 asks it.
        const bool unknown = object->code_object_version > newest_known_version;
        if (!unknown && depended_on(file, bundles[i], *object)) {
          findings.back().severity = Severity::error;
        }
        file.fix_by_building(findings.back(), "--force");
      }
    }
  }
}

void check_count(CaseFile& file, Findings& findings) {
  const auto& code = file.device_code;
  const bool registers = registers_code(*file.image);
  if (code.bundles.empty() && registers && !code.has_rdc_leftover) {
    findings.push_back(file.finding("DCU310"));
    file.fix_by_building(findings.back(), "--force");
  } else if (!code.bundles.empty() && code.registered > code.bundles.size()) {
    findings.push_back(
        file.finding("DCU308", {{"bundles", counted(code.bundles.size(), "offload bundle")},
                                {"registered", counted(code.registered, "translation unit")}}));
    file.fix_by_building(findings.back(), "--force");
  }
}

} // namespace

bool has_hip_code(const CaseFile& file) {
  const auto judged = judged_bundles(file.device_code);
  return !judged.empty();
}

std::vector<std::string> judged_devices(const CaseFile& file) {
  std::vector<std::string> devices;
  const auto add = [&devices](const std::string& device) {
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  };
  for (const auto& arch : file.question.archs) {
    add(arch);
  }
  if (devices.empty()) {
    for (const auto& device : file.facts.devices.devices) {
      if (device.target_id.starts_with("gfx")) {
        add(device.target_id);
      }
    }
  }
  return devices;
}

std::vector<Check> device_checks() {
  return {{{"DCU306"}, check_cuda},
          {{"DCU307", "DCU309"}, check_bundles},
          {{"DCU301", "DCU302", "DCU303", "DCU304", "DCU305", "DCU311"}, check_fit},
          {{"DCU308", "DCU310"}, check_count}};
}

} // namespace dcuop::doctor

// What to compile for. Never a silent default: hipcc without an arch asks rocm_agent_enumerator, and makes
// gfx803 code when that fails.

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/probe/devices.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

struct Wish {
  std::vector<std::string> archs;
  std::string origin;
};

struct Visible {
  std::vector<std::string> archs;
  std::string source; ///< "KFD"
  std::string reason; ///< why there is none
};

Wish first_wish(const Machine& machine, const std::vector<std::string>& asked,
                const std::vector<std::string>& configured);
Visible visible_archs(const Machine& machine);
std::string canonical(const std::string& text, const std::string& origin);
void refuse_mixed_features(const std::vector<std::string>& archs, const std::string& origin);

} // namespace

ArchSelection select_archs(const Machine& machine, const std::vector<std::string>& asked,
                           const std::vector<std::string>& configured) {
  const Wish wish = first_wish(machine, asked, configured);
  const bool wants_native =
      wish.archs.empty() || std::find(wish.archs.begin(), wish.archs.end(), "native") != wish.archs.end();
  ArchSelection selection{{}, wish.origin};
  if (wants_native) {
    const Visible visible = visible_archs(machine);
    if (visible.archs.empty()) {
      const std::string subject = wish.archs.empty()
                                      ? "no offload arch: no --arch, no DCUOP_ARCH, no PYTORCH_ROCM_ARCH, "
                                      : "'native' (" + wish.origin + ") means the visible devices: ";
      throw Error(ExitCode::environment, subject + "no device visible (" + visible.reason + ")",
                  "Say which, for example: --arch gfx906");
    }
    selection.archs = visible.archs;
    const std::string seen = "visible devices (" + visible.source + ")";
    selection.origin = wish.archs.empty() ? seen : wish.origin + ", " + seen;
  }
  for (const std::string& arch : wish.archs) {
    if (arch != "native") {
      selection.archs.push_back(canonical(arch, wish.origin));
    }
  }
  std::sort(selection.archs.begin(), selection.archs.end());
  selection.archs.erase(std::unique(selection.archs.begin(), selection.archs.end()), selection.archs.end());
  refuse_mixed_features(selection.archs, selection.origin);
  return selection;
}

namespace {

std::vector<std::string> parts_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ';' || c == ',' || c == '\t' || c == '\n'; }, ' ');
  return split(text, ' ');
}

Wish first_wish(const Machine& machine, const std::vector<std::string>& asked,
                const std::vector<std::string>& configured) {
  if (Wish wish{parts_of(join(asked, " ")), "--arch"}; !wish.archs.empty()) {
    return wish;
  }
  for (const char* variable : {"DCUOP_ARCH", "PYTORCH_ROCM_ARCH"}) {
    if (Wish wish{parts_of(machine.environment.get(variable).value_or("")), variable}; !wish.archs.empty()) {
      return wish;
    }
  }
  if (Wish wish{parts_of(join(configured, " ")), "user config"}; !wish.archs.empty()) {
    return wish;
  }
  return {};
}

/// Processors without features, whoever told them: the code runs whatever sramecc and xnack are set to, and
/// the selection does not depend on whether rocminfo could be asked.
Visible visible_archs(const Machine& machine) {
  // WSL has no KFD; its devices are behind /dev/dxg, and only rocminfo knows them.
  std::error_code ignored;
  const bool is_wsl = fs::exists(machine.root / "dev/dxg", ignored);
  const Devices found = find_devices(machine, is_wsl);
  Visible visible;
  std::set<std::string> processors;
  for (const Device& device : found.devices) {
    processors.insert(device.target_id.substr(0, device.target_id.find(':')));
    visible.source = device.source;
  }
  visible.archs.assign(processors.begin(), processors.end());
  std::vector<std::string> reasons;
  reasons.reserve(found.sources.size());
  for (const std::string& source : found.sources) {
    reasons.push_back(source.starts_with("KFD: ") ? source.substr(5) : source);
  }
  visible.reason = join(reasons, "; ");
  return visible;
}

std::string canonical(const std::string& text, const std::string& origin) {
  const auto target = elf::TargetId::parse(text);
  const bool is_arch = target && ((target->processor.starts_with("gfx") && target->processor.size() > 5) ||
                                  target->processor == "amdgcnspirv");
  if (!is_arch) {
    throw Error(ExitCode::usage, "'" + text + "' (" + origin + ") is no offload arch",
                "A target id is a processor, then features: gfx906, gfx90a:sramecc+:xnack-");
  }
  return target->text();
}

/// A feature named for one code object of a processor must be named for all of them
/// (https://clang.llvm.org/docs/ClangOffloadBundler.html, "Target ID").
void refuse_mixed_features(const std::vector<std::string>& archs, const std::string& origin) {
  std::map<std::string, elf::TargetId> first;
  for (const std::string& arch : archs) {
    const auto target = elf::TargetId::parse(arch);
    if (!target) {
      continue;
    }
    const auto [known, is_new] = first.emplace(target->processor, *target);
    const bool same_kind = known->second.sramecc.has_value() == target->sramecc.has_value() &&
                           known->second.xnack.has_value() == target->xnack.has_value();
    if (!is_new && !same_kind) {
      std::string message = known->second.text();
      message.append(" and ").append(arch).append(" (").append(origin).append(") cannot go into one file");
      throw Error(ExitCode::usage, message,
                  "Name the same features for every " + target->processor + ", or none");
    }
  }
}

} // namespace

} // namespace dcuop::probe

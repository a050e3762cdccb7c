#include "device_access.hpp"

#include <algorithm>
#include <cerrno>

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using Nodes = std::vector<const probe::DeviceNode*>;

bool is_hygon(const probe::Host& host) {
  const auto* mkfd = host.node("/dev/mkfd");
  return host.has_hygon_driver() || !host.hyhal.empty() || (mkfd != nullptr && mkfd->exists);
}

/// The groups of the nodes that refuse this user; each once. Root's own group lets nobody in.
std::vector<const probe::DeviceNode*> by_group(const Nodes& denied) {
  Nodes nodes;
  for (const auto* node : denied) {
    const bool known = std::any_of(nodes.begin(), nodes.end(), [node](const probe::DeviceNode* other) {
      return other->group_id == node->group_id;
    });
    const bool group_may = (node->mode & 0060U) == 0060U;
    if (!known && group_may && node->group_id != 0) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

std::string names_of(const Nodes& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const auto* node : nodes) {
    names.push_back(node->group);
  }
  return join(names, ",");
}

Phrase on_host(const probe::Host& host, const Nodes& groups) {
  if (groups.empty()) {
    return {"ls -l /dev/kfd /dev/mkfd /dev/dri; lsmod | grep -E 'hy.*cu|amdgpu'",
            "ls -l /dev/kfd /dev/mkfd /dev/dri; lsmod | grep -E 'hy.*cu|amdgpu'"};
  }
  const bool listed = std::all_of(groups.begin(), groups.end(),
                                  [](const probe::DeviceNode* node) { return node->listed_in_group; });
  if (listed) {
    return {"log in again (or: newgrp " + groups.front()->group + "): " + host.user.name + " is in " +
                names_of(groups) + " by now, this session is not",
            "重新登录（或 newgrp " + groups.front()->group + "）：" + host.user.name + " 已加入 " +
                names_of(groups) + "，但本次会话尚未生效"};
  }
  const auto command = "sudo usermod -aG " + names_of(groups) + " " + host.user.name;
  return {command + "   (then log in again)", command + "   （然后重新登录）"};
}

/// docker and podman take a group by its number where the image does not know its name.
std::string run_options(const probe::Host& host, const Nodes& groups) {
  std::string options = "--device=/dev/kfd --device=/dev/dri";
  if (is_hygon(host)) {
    options += " --device=/dev/mkfd -v /opt/hyhal:/opt/hyhal:ro";
  }
  if (groups.empty()) {
    return options + (host.user.id == 0 ? "" : " --group-add render --group-add video");
  }
  for (const auto* node : groups) {
    options += " --group-add " + std::to_string(node->group_id);
  }
  return options;
}

} // namespace

Phrase how_to_get_access(const probe::Host& host, const std::vector<const probe::DeviceNode*>& denied) {
  const auto groups = by_group(denied);
  const auto& kind = host.container.kind;
  if (!host.container.there()) {
    return on_host(host, groups);
  }
  if (kind == "docker" || kind == "podman") {
    const auto command = kind + " run " + run_options(host, groups) + " ...";
    const bool keeps = kind == "podman" && host.user.id != 0;
    return {"start the container with: " + command + (keeps ? "   (rootless: --group-add keep-groups)" : ""),
            "这样启动容器：" + command + (keeps ? "   （rootless 时用 --group-add keep-groups）" : "")};
  }
  if (kind == "kubernetes") {
    return {
        "request the device in the pod's resources (amd.com/gpu, or the name of Hygon's device plugin), so "
        "that the plugin passes /dev/kfd and /dev/dri",
        "在 pod 的 resources 中申请设备（amd.com/gpu，或海光设备插件的资源名），由插件传入 /dev/kfd 和 "
        "/dev/dri"};
  }
  if (kind == "apptainer") {
    const std::string command = "apptainer exec --rocm --bind /dev/kfd,/dev/dri IMAGE ...";
    const auto more = groups.empty() ? std::string() : "sudo usermod -aG " + names_of(groups) + " USER";
    return {"on the host: " + (more.empty() ? "" : more + "; ") + command,
            "在宿主机上：" + (more.empty() ? "" : more + "；") + command};
  }
  if (kind == "enroot") {
    const std::string command = "srun --container-mounts=/dev/kfd:/dev/kfd,/dev/dri:/dev/dri ...";
    const auto more = groups.empty() ? std::string() : "sudo usermod -aG " + names_of(groups) + " USER";
    return {"on the host: " + (more.empty() ? "" : more + "; ") + command,
            "在宿主机上：" + (more.empty() ? "" : more + "；") + command};
  }
  return {"pass /dev/kfd and /dev/dri into this " + kind + " container, with the group that owns them",
          "把 /dev/kfd 和 /dev/dri 及其所属组传入此 " + kind + " 容器"};
}

} // namespace dcuop::doctor

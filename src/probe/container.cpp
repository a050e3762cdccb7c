// Files first, as they hold for a saved machine too; variables are this process's own.

#include <array>
#include <utility>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "host_reading.hpp"

namespace dcuop::probe {

namespace {

bool is_there(const Machine& machine, const fs::path& path) {
  return identity_of(inside(machine.root, path)).has_value();
}

std::string text_of(const Machine& machine, const fs::path& path) {
  return read_file_prefix(inside(machine.root, path), 1 << 20).value_or("");
}

/// Apptainer and its ancestor Singularity keep /.singularity.d in every image, and set these.
/// https://apptainer.org/docs/user/main/environment_and_metadata.html
Container apptainer(const Machine& machine) {
  if (is_there(machine, "/.singularity.d")) {
    return {"apptainer", "/.singularity.d"};
  }
  for (const char* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"}) {
    if (!machine.is_saved && machine.environment.get_nonempty(name)) {
      return {"apptainer", name};
    }
  }
  return {};
}

/// enroot (and pyxis, Slurm's plugin for it) leaves no marker file: its unpacked images lie below a directory of
/// that name, which the mount of / shows.
Container enroot(const Machine& machine) {
  for (const std::string& line : split(text_of(machine, "/proc/self/mountinfo"), '\n')) {
    const std::vector<std::string> fields = split(line, ' ');
    constexpr std::size_t mount_point = 4;
    if (fields.size() > mount_point && fields[mount_point] == "/" &&
        line.find("/enroot") != std::string::npos) {
      return {"enroot", "/proc/self/mountinfo"};
    }
  }
  return {};
}

Container kubernetes(const Machine& machine) {
  if (is_there(machine, "/run/secrets/kubernetes.io")) {
    return {"kubernetes", "/run/secrets/kubernetes.io"};
  }
  if (is_there(machine, "/var/run/secrets/kubernetes.io")) {
    return {"kubernetes", "/var/run/secrets/kubernetes.io"};
  }
  if (!machine.is_saved && machine.environment.get_nonempty("KUBERNETES_SERVICE_HOST")) {
    return {"kubernetes", "KUBERNETES_SERVICE_HOST"};
  }
  return {};
}

Container by_marker_file(const Machine& machine) {
  if (is_there(machine, "/run/.containerenv")) {
    return {"podman", "/run/.containerenv"};
  }
  if (is_there(machine, "/.dockerenv")) {
    return {"docker", "/.dockerenv"};
  }
  return {};
}

/// With cgroup v2 in a namespace of its own the file says "0::/", and nothing.
Container by_cgroup(const Machine& machine) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> known = {{{"kubepods", "kubernetes"},
                                                                              {"libpod", "podman"},
                                                                              {"docker", "docker"},
                                                                              {"buildkit", "docker"},
                                                                              {"crio-", "kubernetes"},
                                                                              {"containerd", "containerd"},
                                                                              {"/lxc", "lxc"}}};
  for (const char* path : {"/proc/1/cgroup", "/proc/self/cgroup"}) {
    const std::string text = text_of(machine, path);
    for (const auto& [word, kind] : known) {
      // "/system.slice/docker.service" and containerd.service are services of a host.
      const auto at = text.find(word);
      if (at != std::string::npos && text.compare(at + word.size(), 8, ".service") != 0) {
        return {kind, path};
      }
    }
  }
  return {};
}

/// https://systemd.io/CONTAINER_INTERFACE: the manager's own word for it.
Container by_manager(const Machine& machine) {
  if (const std::string kind(trimmed(text_of(machine, "/run/systemd/container"))); !kind.empty()) {
    return {kind, "/run/systemd/container"};
  }
  if (const auto kind = machine.environment.get_nonempty("container"); kind && !machine.is_saved) {
    return {*kind, "$container"};
  }
  return {};
}

} // namespace

Container find_container(const Machine& machine) {
  for (const auto& look : {apptainer, enroot, kubernetes, by_marker_file, by_cgroup, by_manager}) {
    if (Container found = look(machine); found.there()) {
      return found;
    }
  }
  return {};
}

} // namespace dcuop::probe

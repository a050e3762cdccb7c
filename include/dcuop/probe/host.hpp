#pragma once
// What stands between a process and its devices: device nodes and who may open them, the kernel's drivers, the
// container around it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/probe/machine.hpp"

namespace dcuop::probe {

/// The container that this process runs in.
struct Container {
  std::string kind; ///< "docker", "podman", "kubernetes", "apptainer", "enroot", "lxc", ...; "": none seen
  std::string evidence; ///< "/.dockerenv"
  [[nodiscard]] bool there() const { return !kind.empty(); }
};

struct DeviceNode {
  std::filesystem::path path; ///< as a program names it: "/dev/kfd"
  bool exists = false;
  /// errno of opening it for reading and writing, 0 when that works; nullopt: not tried, as on a saved machine.
  /// /dev/mkfd is never opened, as what that does is not known: access(2) alone.
  std::optional<int> open_error;
  std::uint32_t mode = 0; ///< permission bits
  std::uint32_t group_id = 0;
  std::string owner, group;     ///< by name; the number where /etc does not know it
  bool in_group = false;        ///< this process has the group
  bool listed_in_group = false; ///< /etc/group says that the user has it, whatever this process has
};

struct User {
  std::string name; ///< the number where /etc/passwd does not know it
  std::uint32_t id = 0;
  std::vector<std::uint32_t> groups; ///< of this process, the effective one first
};

/// A driver for AMD's or Hygon's devices that the kernel has.
struct KernelDriver {
  std::string name;     ///< "amdgpu", "hycu"
  std::string evidence; ///< "/proc/modules", "/sys/module/amdgpu"
};

struct Host {
  Container container;
  User user;                     ///< meaningless for a saved machine
  std::vector<DeviceNode> nodes; ///< /dev/kfd, /dev/mkfd (there or not), then the render nodes
  std::vector<KernelDriver> drivers;
  bool drivers_known = false;            ///< /proc/modules or /sys/module could be read
  std::vector<std::string> accelerators; ///< on PCI, AMD's and Hygon's: "0000:03:00.0 (1002:740f)"
  std::filesystem::path hyhal; ///< Hygon's driver-side libraries; empty when neither place has the directory
  bool hyhal_empty = false;    ///< the directory is there, with nothing in it

  [[nodiscard]] const DeviceNode* node(std::string_view path) const; ///< nullptr: not looked at
  [[nodiscard]] bool has_render_node() const;
  [[nodiscard]] bool has_hygon_driver() const;
};

[[nodiscard]] Host find_host(const Machine& machine);

} // namespace dcuop::probe

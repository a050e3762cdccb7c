// /dev/kfd (AMD's and Hygon's drivers), /dev/mkfd (Hygon's: HYGON-AI/hcu-container-toolkit,
// internal/discover/graphics.go) and the render nodes, which the HSA runtime opens besides.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "dcuop/support/accounts.hpp"
#include "dcuop/support/files.hpp"
#include "host_reading.hpp"

namespace dcuop::probe {

namespace {

/// Whether a cgroup lets the device through is known only by opening it: access(2) says yes all the same.
int error_of_opening(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    return errno;
  }
  ::close(descriptor);
  return 0;
}

int error_of_access(const fs::path& file) {
  return ::access(file.c_str(), R_OK | W_OK) == 0 ? 0 : errno;
}

class Reader {
 public:
  Reader(const Machine& machine, const User& user)
      : machine_(machine), user_(user), users_(accounts_in(inside(machine.root, "/etc/passwd"))),
        groups_(accounts_in(inside(machine.root, "/etc/group"))) {}

  [[nodiscard]] DeviceNode read(const fs::path& path) const {
    DeviceNode node;
    node.path = path;
    const fs::path file = inside(machine_.root, path);
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) {
      return node;
    }
    node.exists = true;
    node.mode = status.st_mode & 07777U;
    node.group_id = status.st_gid;
    node.owner = account_name(users_, status.st_uid);
    node.group = account_name(groups_, status.st_gid);
    if (!machine_.is_saved) {
      node.open_error = path == "/dev/mkfd" ? error_of_access(file) : error_of_opening(file);
      node.in_group =
          std::find(user_.groups.begin(), user_.groups.end(), status.st_gid) != user_.groups.end();
      const Account* group = account_with_id(groups_, status.st_gid);
      node.listed_in_group = group != nullptr && std::find(group->members.begin(), group->members.end(),
                                                           user_.name) != group->members.end();
    }
    return node;
  }

 private:
  const Machine& machine_;
  const User& user_;
  std::vector<Account> users_, groups_;
};

} // namespace

User this_user(const Machine& machine) {
  User user;
  user.id = ::geteuid();
  user.name = account_name(accounts_in(inside(machine.root, "/etc/passwd")), user.id);
  user.groups = {::getegid()};
  if (const int count = ::getgroups(0, nullptr); count > 0) {
    std::vector<gid_t> more(static_cast<std::size_t>(count));
    const int got = ::getgroups(count, more.data());
    user.groups.insert(user.groups.end(), more.begin(), more.begin() + std::max(got, 0));
  }
  return user;
}

std::vector<DeviceNode> find_device_nodes(const Machine& machine, const User& user) {
  const Reader reader(machine, user);
  std::vector<DeviceNode> nodes = {reader.read("/dev/kfd"), reader.read("/dev/mkfd")};
  for (const std::string& name : list_directory(inside(machine.root, "/dev/dri"))) {
    if (name.starts_with("renderD")) {
      nodes.push_back(reader.read(fs::path("/dev/dri") / name));
    }
  }
  return nodes;
}

} // namespace dcuop::probe

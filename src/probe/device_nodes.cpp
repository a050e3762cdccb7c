// /dev/kfd (AMD's and Hygon's drivers), /dev/mkfd (Hygon's: HYGON-AI/hcu-container-toolkit,
// internal/discover/graphics.go) and the render nodes, which the HSA runtime opens besides.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "host_reading.hpp"

namespace dcuop::probe {

namespace {

/// A line of /etc/passwd or /etc/group. glibc's own look-up is not for a static program, nor for another tree.
struct Record {
  std::string name;
  std::uint32_t id = 0;
  std::vector<std::string> members; ///< of a group
};

std::vector<Record> records_in(const fs::path& file) {
  std::vector<Record> records;
  for (const std::string& line : split(read_file(file).value_or(""), '\n')) {
    std::vector<std::string> fields;
    std::size_t start = 0;
    for (std::size_t end = line.find(':'); end != std::string::npos; end = line.find(':', start)) {
      fields.push_back(line.substr(start, end - start));
      start = end + 1;
    }
    fields.push_back(line.substr(start));
    Record record;
    if (fields.size() < 3 ||
        std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), record.id).ec != std::errc{}) {
      continue;
    }
    record.name = fields[0];
    record.members = fields.size() > 3 ? split(fields[3], ',') : std::vector<std::string>{};
    records.push_back(std::move(record));
  }
  return records;
}

const Record* with_id(const std::vector<Record>& records, std::uint32_t id) {
  const auto found =
      std::find_if(records.begin(), records.end(), [id](const Record& record) { return record.id == id; });
  return found == records.end() ? nullptr : &*found;
}

std::string name_of(const std::vector<Record>& records, std::uint32_t id) {
  const Record* record = with_id(records, id);
  return record == nullptr ? std::to_string(id) : record->name;
}

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
      : machine_(machine), user_(user), users_(records_in(inside(machine.root, "/etc/passwd"))),
        groups_(records_in(inside(machine.root, "/etc/group"))) {}

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
    node.owner = name_of(users_, status.st_uid);
    node.group = name_of(groups_, status.st_gid);
    if (!machine_.is_saved) {
      node.open_error = path == "/dev/mkfd" ? error_of_access(file) : error_of_opening(file);
      node.in_group =
          std::find(user_.groups.begin(), user_.groups.end(), status.st_gid) != user_.groups.end();
      const Record* group = with_id(groups_, status.st_gid);
      node.listed_in_group = group != nullptr && std::find(group->members.begin(), group->members.end(),
                                                           user_.name) != group->members.end();
    }
    return node;
  }

 private:
  const Machine& machine_;
  const User& user_;
  std::vector<Record> users_, groups_;
};

} // namespace

User this_user(const Machine& machine) {
  User user;
  user.id = ::geteuid();
  user.name = name_of(records_in(inside(machine.root, "/etc/passwd")), user.id);
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

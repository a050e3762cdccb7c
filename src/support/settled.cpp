#include "dcuop/support/settled.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <iterator>

namespace dcuop {

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

bool is_settled(const FileIdentity& identity, std::int64_t now) {
  constexpr std::int64_t settling_ns = 2'000'000'000;
  return identity.ctime_ns + settling_ns <= now;
}

bool is_on_kernel_file_system(const std::filesystem::path& path) {
  constexpr unsigned long kinds[] = {0x9fa0 /* proc */, 0x62656572 /* sysfs */, 0x64626720 /* debugfs */,
                                     0x0027e0eb /* cgroup v1 */, 0x63677270 /* cgroup v2 */};
  struct statfs status {};
  return ::statfs(path.c_str(), &status) == 0 &&
         std::find(std::begin(kinds), std::end(kinds), static_cast<unsigned long>(status.f_type)) !=
             std::end(kinds);
}

} // namespace dcuop

#include "host.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>

#include "dcuop/support/digest.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::store {

namespace {

std::string read_host() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0) {
    return "unknown";
  }
  std::string name = buffer.data();
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_' && c != '-'; }, '_');
  return name.empty() || name.front() == '.' ? "unknown" : name;
}

std::string read_boot() {
  std::string id = read_file("/proc/sys/kernel/random/boot_id").value_or("");
  std::erase_if(id, [](unsigned char c) { return std::isxdigit(c) == 0; });
  return id;
}

} // namespace

const std::string& this_host() {
  static const std::string host = read_host();
  return host;
}

const std::string& this_boot() {
  static const std::string boot = read_boot();
  return boot;
}

std::string this_container() {
  if (access("/.dockerenv", F_OK) == 0) {
    return "docker";
  }
  if (access("/run/.containerenv", F_OK) == 0) {
    return "podman";
  }
  return access("/.singularity.d", F_OK) == 0 ? "apptainer" : "";
}

std::string random_name() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    // Kernels before 3.17 have no getrandom(2).
    static std::atomic<std::uint64_t> counter{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    bits = static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(getpid()) << 40U) ^ counter++;
  }
  Digest digest = Hasher().number("random", bits).finish();
  return digest.hex().substr(0, 16);
}

} // namespace dcuop::store

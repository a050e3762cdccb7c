#pragma once
// A process that runs: what it has really loaded, and whether that is one whole. Nothing of it is stopped, traced
// or started; /proc alone is read.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/finding/finding.hpp"
#include "dcuop/probe/machine.hpp"
#include "dcuop/support/environment.hpp"

namespace dcuop::doctor {

/// What became of a mapped file since.
enum class OnDisk {
  same,
  replaced, ///< another file has its name now
  deleted,  ///< nothing has
  unknown,  ///< it cannot be looked at
};
[[nodiscard]] std::string to_string(OnDisk on_disk);

/// A file that the process has mapped to run it: its program, or a library.
struct LoadedFile {
  std::filesystem::path path; ///< as the process names it, without " (deleted)"
  std::filesystem::path
      here; ///< where this program finds it: below /proc/<pid>/root in another mount namespace
  std::uint64_t device = 0, inode = 0; ///< as /proc/<pid>/maps says
  OnDisk on_disk = OnDisk::same;
  std::string changed; ///< of a replaced one: "inode 12 is mapped, 15 is there"
};

struct LiveProcess {
  int pid = 0;
  std::string command_line;         ///< its first words
  std::filesystem::path executable; ///< empty when it cannot be told
  std::uint32_t user = 0;           ///< effective
  std::string user_name;            ///< the number where /etc/passwd does not know it
  std::string state;                ///< "S (sleeping)"
  Environment environment;          ///< as it was started with; what it set since is not seen
  bool environment_known = false;
  bool other_mounts = false;               ///< it lives in another mount namespace: a container's, mostly
  std::filesystem::path root = "/";        ///< "/proc/<pid>/root" then
  std::vector<LoadedFile> files;           ///< the program first, then in the order of addresses
  [[nodiscard]] std::string title() const; ///< "pid 4121 (python3 train.py)"
};

/// Throws Error(usage) when there is no such process, and Error(environment) when it may not be looked into, or
/// has nothing loaded (a kernel thread, a zombie). `proc`: of another tree, for tests.
[[nodiscard]] LiveProcess read_live_process(int pid, const std::filesystem::path& proc = "/proc");

struct LiveQuestion {
  std::vector<std::string> archs; ///< --arch: judged instead of the devices that the process can see
  std::filesystem::path file;     ///< judged as if the process loaded it now; empty: none
  std::filesystem::path working_directory = "/";
};

/// A library of the process with what was read of it.
struct LoadedLibrary {
  LoadedFile file;
  std::string soname;
  bool is_module = false;           ///< exports PyInit_*
  std::vector<std::string> targets; ///< of its HIP device code
};

struct LiveReport {
  std::string headline, headline_chinese;
  std::vector<finding::Finding> findings; ///< sorted; of the process
  std::vector<LoadedLibrary> loaded;
  std::vector<FactLine> facts;
  int checks = 0;
  std::optional<Report> file; ///< of LiveQuestion::file
};

/// Facts of the process itself: its Python and torch by the files that it has loaded, the devices that it sees.
/// Nothing is started, as a process may be another user's and the reader root.
[[nodiscard]] EnvironmentFacts facts_of(const LiveProcess& process, const probe::Machine& machine);
/// `machine`: this one; the process' environment and root are put into its place.
[[nodiscard]] LiveReport examine_process(const LiveProcess& process, const LiveQuestion& question,
                                         const probe::Machine& machine);
[[nodiscard]] nlohmann::json to_json(const LiveProcess& process, const LiveReport& report);

} // namespace dcuop::doctor

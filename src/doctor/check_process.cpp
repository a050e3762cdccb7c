// DCU116, DCU420, DCU421: what the process can map, and which libstdc++ it has.
#include <algorithm>
#include <charconv>
#include <set>

#include <elf.h>
#include <sys/statvfs.h>

#include "check_machine.hpp"
#include "cxx_runtime.hpp"
#include "mounts.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

/// Of the machine that the process is on; who unpacks an image has none.
std::filesystem::path proc_file(const CaseFile& file, const char* name) {
  return probe::inside(file.process_root, std::filesystem::path("/proc/self") / name);
}

void check_mount(CaseFile& file, Findings& findings) {
  const bool is_of_image = file.machine.is_saved && lies_below(file.path, file.process_root);
  if (file.image == nullptr || (is_of_image && file.process_root != "/")) {
    return; // how an image's file system will be mounted is not known
  }
  const auto mount = mount_of(real_path(file.path), read_file(proc_file(file, "mountinfo")).value_or(""));
  struct statvfs status {};
  const bool noexec = mount ? mount->has("noexec")
                            : statvfs(file.path.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0;
  if (!noexec) {
    return;
  }
  const auto directory = mount ? mount->point.string() : file.path.parent_path().string();
  auto finding = file.finding("DCU116", {{"directory", file.path.parent_path().string()}});
  if (mount) {
    finding.evidence.push_back(
        {"file", "/proc/self/mountinfo: " + directory + " is " + mount->type + ", " + mount->options});
  }
  finding.evidence.push_back({"loader says", "failed to map segment from shared object"});
  finding.fix = "export DCUOP_CACHE_DIR=DIR on another file system, or mount -o remount,exec " + directory;
  finding.chinese.fix =
      "export DCUOP_CACHE_DIR=DIR（换到别的文件系统），或 mount -o remount,exec " + directory;
  findings.push_back(std::move(finding));
}

/// "Max address space   524288000   unlimited   bytes": the soft limit.
std::optional<std::uint64_t> address_space_limit(const std::string& limits) {
  constexpr std::string_view name = "Max address space";
  for (const auto& line : split(limits, '\n')) {
    if (line.starts_with(name)) {
      const auto words = split(std::string_view(line).substr(name.size()), ' ');
      std::uint64_t value = 0;
      if (!words.empty() &&
          std::from_chars(words[0].data(), words[0].data() + words[0].size(), value).ec == std::errc{}) {
        return value;
      }
    }
  }
  return std::nullopt;
}

/// From the first to the last byte of its segments, as the loader reserves it.
std::uint64_t mapped_size(const elf::Image& image) {
  constexpr std::uint64_t page = 4096;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  for (const auto& segment : image.segments) {
    if (segment.type == PT_LOAD) {
      first = std::min(first, segment.address / page * page);
      last = std::max(last, (segment.address + segment.memory_size + page - 1) / page * page);
    }
  }
  return last > first ? last - first : 0;
}

struct Mappings {
  std::uint64_t bytes = 0;
  std::size_t files = 0;
};

void check_limit(CaseFile& file, Findings& findings) {
  if (file.image == nullptr) {
    return;
  }
  const auto limit = address_space_limit(read_file(proc_file(file, "limits")).value_or(""));
  if (!limit) {
    return;
  }
  std::set<const elf::Image*> seen;
  Mappings before, load;
  const auto add = [&](Mappings& into, const elf::Image* image) {
    if (image != nullptr && seen.insert(image).second) {
      into.bytes += mapped_size(*image);
      ++into.files;
    }
  };
  for (const auto& path : file.process.files()) {
    add(before, file.pool.read(path));
  }
  add(load, file.image);
  for (const auto& library : file.closure.libraries) {
    add(load, library.path.empty() ? nullptr : file.pool.read(library.path));
  }
  if (before.bytes + load.bytes <= *limit) {
    return;
  }
  auto finding = file.finding(
      "DCU421", {{"limit", human_size(*limit)}, {"needed", human_size(before.bytes + load.bytes)}});
  finding.evidence.push_back({"file", "/proc/self/limits: Max address space " + std::to_string(*limit)});
  finding.evidence.push_back(
      {"wanted", human_size(load.bytes) + " by " + file.file_name + " and the " +
                     counted(load.files - 1, "library") + " that it brings; " + human_size(before.bytes) +
                     " by the " + counted(before.files, "file") + " of Python and torch before it"});
  finding.evidence.push_back({"loader says", "failed to map segment from shared object"});
  finding.fix = finding.chinese.fix = "ulimit -v unlimited";
  findings.push_back(std::move(finding));
}

/// The version check found libstdc++ too old: another copy here would do, so that building again is not the
/// cure.
void check_cxx_runtime(CaseFile& file, Findings& findings) {
  for (const auto& newcomer : file.newcomers) {
    const auto lack = lack_of_cxx_runtime(file, *newcomer.image);
    if (!lack || lack->better.empty()) {
      continue;
    }
    std::erase_if(findings, [&lack](const finding::Finding& finding) {
      return finding.rule == "DCU220" && finding.cause.find(lack->winner.path.string()) != std::string::npos;
    });
    const auto& winner = lack->winner;
    const auto owner = winner.is_conda ? "conda's " : "";
    auto finding =
        file.finding("DCU420", {{"winner", owner + winner.path.string()},
                                {"winner:zh", (winner.is_conda ? "conda 的 " : "") + winner.path.string()},
                                {"versions", join(lack->versions, ", ")},
                                {"better", lack->better.front().path.string()}});
    finding.evidence.push_back({"wanted by", newcomer.image->path.filename().string()});
    finding.evidence.push_back(
        {"offered", winner.path.string() + ": " + winner.newest + " at most; " + winner.why});
    for (const auto& candidate : lack->better) {
      finding.evidence.push_back({"nearby", candidate.path.string() + ": " + candidate.newest +
                                                (candidate.is_conda ? " (conda's)" : "")});
    }
    const auto preload = "LD_PRELOAD=" + lack->better.front().path.string() + " python ...";
    finding.fix =
        winner.is_conda ? "conda install -c conda-forge libstdcxx-ng   (or: " + preload + ")" : preload;
    finding.chinese.fix =
        winner.is_conda ? "conda install -c conda-forge libstdcxx-ng   （或：" + preload + "）" : preload;
    findings.push_back(std::move(finding));
    return; // one process has one
  }
}

} // namespace

std::vector<Check> process_checks() {
  return {{{"DCU116"}, check_mount}, {{"DCU420"}, check_cxx_runtime}, {{"DCU421"}, check_limit}};
}

} // namespace dcuop::doctor

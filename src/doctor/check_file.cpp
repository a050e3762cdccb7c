// DCU1xx: is it a file that the loader can map?
#include <algorithm>
#include <charconv>
#include <string>

#include <elf.h>

#include "checks.hpp"
#include "libc.hpp"
#include "mounts.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

/// glibc keeps this much static TLS for libraries that are opened later (_dl_tls_static_surplus_init in
/// elf/dl-tls.c): a part for the libraries that use it sparingly, and rtld.optional_static_tls.
constexpr std::uint64_t static_tls_fixed = 1152;
constexpr std::uint64_t static_tls_optional = 512;

std::uint64_t optional_static_tls(const Environment& environment) {
  constexpr std::string_view tunable = "glibc.rtld.optional_static_tls=";
  auto value = static_tls_optional;
  for (const auto& part : split(environment.get("GLIBC_TUNABLES").value_or(""), ':')) {
    if (part.starts_with(tunable)) {
      std::from_chars(part.data() + tunable.size(), part.data() + part.size(), value);
    }
  }
  return value;
}

/// torch's JIT builds in one directory: what is left there tells that a build did not end.
void add_build_directory(const CaseFile& file, finding::Finding& finding) {
  if (identity_of(file.path.parent_path() / "build.ninja")) {
    finding.evidence.push_back(
        {"so", "build.ninja lies there without it: a build that failed, or a cache that was pruned"});
    finding.fix = finding.chinese.fix =
        "rm -r " + file.path.parent_path().string() + " && dcuop doctor --torch-extensions";
  }
}

void check_kind(CaseFile& file, Findings& findings) {
  const auto add = [&](std::string_view rule, finding::Values values = {}) {
    findings.push_back(file.finding(rule, std::move(values)));
  };
  const auto size = std::to_string(file.identity.file_size);
  switch (file.identity.kind) {
  case elf::FileKind::elf:
    return;
  case elf::FileKind::missing:
    add("DCU101", {{"file", file.question.file.string()}});
    break;
  case elf::FileKind::directory:
    add("DCU102");
    break;
  case elf::FileKind::unreadable:
    add("DCU103");
    break;
  case elf::FileKind::empty:
    add("DCU104");
    break;
  case elf::FileKind::too_short:
    add("DCU105", {{"size", size}});
    break;
  case elf::FileKind::lfs_pointer:
    add("DCU106", {{"size", size}});
    break;
  case elf::FileKind::not_elf:
    add("DCU107");
    break;
  case elf::FileKind::archive:
    add("DCU108");
    break;
  }
  auto& finding = findings.back();
  finding.evidence.push_back({"file", file.path.string()});
  std::error_code no_link;
  if (const auto target = std::filesystem::read_symlink(file.path, no_link); !no_link) {
    finding.evidence.push_back({"so", "it is a symbolic link to " + target.string()});
  }
  if (file.identity.kind == elf::FileKind::lfs_pointer) {
    finding.fix = finding.chinese.fix = "git lfs install && git lfs pull";
  } else {
    file.fix_by_building(finding);
  }
  if (file.identity.kind == elf::FileKind::missing) {
    add_build_directory(file, finding);
  }
}

std::string machine_text(const elf::Identity& identity) {
  const auto name = elf::machine_name(identity.machine);
  return identity.little_endian ? name : name + " (big-endian)";
}

void check_machine(CaseFile& file, Findings& findings) {
  const auto& mine = file.identity;
  const auto& host = file.interpreter;
  if (mine.kind != elf::FileKind::elf) {
    return;
  }
  const auto loader_says = [&](std::string_view message) {
    findings.back().evidence.push_back({"loader says", std::string(message)});
    file.fix_by_building(findings.back());
  };
  // The same order as glibc's open_verify: class, byte order, machine.
  if (mine.elf_class != host.elf_class) {
    const auto bits = [](int elf_class) {
      return elf_class == 0 ? std::string("?") : std::to_string(elf_class);
    };
    findings.push_back(
        file.finding("DCU109", {{"bits", bits(mine.elf_class)}, {"host", bits(host.elf_class)}}));
    loader_says("wrong ELF class: ELFCLASS" + bits(mine.elf_class));
  } else if (mine.machine != host.machine || mine.little_endian != host.little_endian) {
    findings.push_back(
        file.finding("DCU110", {{"machine", machine_text(mine)}, {"host", machine_text(host)}}));
    loader_says("cannot open shared object file: No such file or directory (though the file exists)");
  }
}

void check_headers(CaseFile& file, Findings& findings) {
  if (!file.image_problem.empty()) {
    findings.push_back(file.finding("DCU113", {{"reason", file.image_problem}}));
    file.fix_by_building(findings.back());
  }
}

void check_type(CaseFile& file, Findings& findings) {
  if (file.image == nullptr) {
    return;
  }
  std::string what, chinese;
  switch (file.identity.type) {
  case ET_REL:
    what = "an object file";
    chinese = "目标文件";
    break;
  case ET_EXEC:
    what = "an executable";
    chinese = "可执行文件";
    break;
  case ET_CORE:
    what = "a core dump";
    chinese = "core 文件";
    break;
  default:
    if ((file.image->flags_1 & DF_1_PIE) != 0) {
      what = "a position-independent executable";
      chinese = "位置无关可执行文件";
    } else if ((file.image->flags_1 & DF_1_NOOPEN) != 0) {
      what = "marked as not to be opened (-z nodlopen)";
      chinese = "标记为禁止打开的文件（-z nodlopen）";
    } else if (file.identity.type != ET_DYN) {
      what = "of ELF type " + std::to_string(file.identity.type);
      chinese = "ELF 类型 " + std::to_string(file.identity.type);
    }
  }
  if (!what.empty()) {
    findings.push_back(file.finding("DCU114", {{"what", what}, {"what:zh", chinese}}));
    file.fix_by_building(findings.back());
  }
}

void check_whole(CaseFile& file, Findings& findings) {
  if (file.image == nullptr) {
    return;
  }
  if (file.image->truncated()) {
    findings.push_back(file.finding("DCU111", {{"size", std::to_string(file.identity.file_size)},
                                               {"needed", std::to_string(file.image->bytes_needed)}}));
    findings.back().evidence.push_back({"loader says", "nothing: the process dies of SIGBUS"});
    file.fix_by_building(findings.back());
  } else if (file.image->section_headers_cut) {
    findings.push_back(file.finding("DCU112"));
    file.fix_by_building(findings.back());
  }
}

/// Of the libc in the process; -1 when there is none.
int libc_minor(const CaseFile& file) {
  const auto* libc = file.provider_of("libc.so.6");
  return libc == nullptr ? -1 : glibc_minor(*libc);
}

/// A finding about the file or about a library that it brings: {who} in a sentence, {file} as a name.
finding::Finding finding_about(const CaseFile& file, const elf::Image& image, std::string_view rule,
                               finding::Values values = {}) {
  const bool its_own = &image == file.image;
  const auto name = its_own ? file.file_name : image.path.filename().string();
  values.insert({{"file", name}, {"who", its_own ? "it" : name}, {"who:zh", its_own ? "它" : name + " "}});
  auto made = file.finding(rule, std::move(values));
  if (!its_own) {
    made.evidence.push_back({"wanted by", name + ", which " + file.file_name + " needs"});
  }
  return made;
}

void judge_stack(CaseFile& file, const elf::Image& image, Findings& findings) {
  constexpr int first_that_refuses = 41; // glibc 2.41 NEWS: dlopen no longer makes the stack executable
  const auto& segments = image.segments;
  const bool executable = std::any_of(segments.begin(), segments.end(), [](const elf::Segment& segment) {
    return segment.type == PT_GNU_STACK && (segment.flags & PF_X) != 0;
  });
  if (!executable) {
    return;
  }
  auto finding = finding_about(file, image, "DCU115");
  const int minor = libc_minor(file);
  // Of a library that loads it is a note: Debian's libamdhip64.so.5 asks for one, and nobody here can mend it.
  const auto harmless = &image == file.image ? Severity::warning : Severity::note;
  finding.severity = minor >= first_that_refuses ? Severity::error : harmless;
  finding.evidence.push_back(
      {"offered",
       minor < 0 ? "no libc was found to judge it by"
                 : "glibc 2." + std::to_string(minor) +
                       (minor >= first_that_refuses ? ", which refuses it" : ", which still allows it")});
  finding.fix = finding.chinese.fix = "patchelf --clear-execstack " + image.path.string();
  findings.push_back(std::move(finding));
}

void check_stack(CaseFile& file, Findings& findings) {
  for (const auto& newcomer : file.newcomers) {
    judge_stack(file, *newcomer.image, findings);
  }
}

void judge_tls(CaseFile& file, const elf::Image& image, Findings& findings) {
  if ((image.flags & DF_STATIC_TLS) == 0) {
    return;
  }
  std::uint64_t size = 0;
  for (const auto& segment : image.segments) {
    size += segment.type == PT_TLS ? segment.memory_size : 0;
  }
  const auto optional = optional_static_tls(file.machine.environment);
  if (size <= optional) {
    return; // others may have used some of it, but a finding would be a guess
  }
  const bool hopeless = size > static_tls_fixed + optional;
  auto finding = finding_about(file, image, "DCU117", {{"size", std::to_string(size)}});
  finding.severity = hopeless ? Severity::error : Severity::warning;
  finding.evidence.push_back(
      {"offered", std::to_string(static_tls_fixed + optional) + " bytes at most in this process"});
  finding.evidence.push_back({"loader says", "cannot allocate memory in static TLS block" +
                                                 std::string(hopeless ? "" : " (when it does not fit)")});
  finding.fix = finding.chinese.fix =
      "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=" + std::to_string(size * 2);
  findings.push_back(std::move(finding));
}

void check_tls(CaseFile& file, Findings& findings) {
  for (const auto& newcomer : file.newcomers) {
    judge_tls(file, *newcomer.image, findings);
  }
}

constexpr std::string_view relr_node = "GLIBC_ABI_DT_RELR";
constexpr int first_with_relr = 36; // glibc 2.36 NEWS; RHEL 9's 2.34 has it too, and says so by the node

bool has_node(const std::vector<std::string>& nodes, std::string_view wanted) {
  return std::find(nodes.begin(), nodes.end(), wanted) != nodes.end();
}

bool asks_for_relr(const elf::Image& image) {
  return std::any_of(image.version_needs.begin(), image.version_needs.end(),
                     [](const elf::VersionNeed& need) { return has_node(need.versions, relr_node); });
}

/// As glibc's _dl_check_map_versions (elf/dl-version.c): only of a file that asks for versions, and needs the libc.
bool relr_is_refused(const elf::Image& image) {
  return !image.version_needs.empty() &&
         std::any_of(image.needed.begin(), image.needed.end(),
                     [](const std::string& library) { return library.starts_with("libc.so."); });
}

/// The form that this libc passes over in silence, so that the addresses in it are never made right.
std::optional<elf::Packed> unread_form(const elf::Image& image, bool libc_knows_relr, int minor) {
  for (const auto form : image.packed_relocations) {
    const bool too_old = !libc_knows_relr && minor < first_with_relr && !asks_for_relr(image);
    if (form != elf::Packed::relr || too_old) {
      return form;
    }
  }
  return std::nullopt;
}

void judge_relocations(CaseFile& file, const elf::Image& image, Findings& findings) {
  const auto* libc = file.provider_of("libc.so.6");
  const int minor = libc_minor(file);
  if (image.packed_relocations.empty() || libc == nullptr || minor < 0) {
    return;
  }
  const bool knows = has_node(libc->version_definitions, relr_node);
  const auto& forms = image.packed_relocations;
  const bool has_relr = std::find(forms.begin(), forms.end(), elf::Packed::relr) != forms.end();
  const auto offered = "glibc 2." + std::to_string(minor) + " (" + libc->path.string() + ")";
  if (has_relr && knows && !asks_for_relr(image) && relr_is_refused(image)) {
    auto finding = finding_about(file, image, "DCU118");
    finding.evidence.push_back(
        {"offered", offered + ", which takes DT_RELR from who asks for " + std::string(relr_node)});
    finding.evidence.push_back({"loader says", "DT_RELR without GLIBC_ABI_DT_RELR dependency"});
    findings.push_back(std::move(finding));
  } else if (const auto form = unread_form(image, knows, minor)) {
    auto finding = finding_about(file, image, "DCU119", {{"form", std::string(elf::name_of(*form))}});
    finding.evidence.push_back(
        {"offered", offered + ", which does not read " + std::string(elf::name_of(*form))});
    finding.evidence.push_back({"loader says", "nothing: the process dies of SIGSEGV"});
    findings.push_back(std::move(finding));
  }
}

void check_relocations(CaseFile& file, Findings& findings) {
  for (const auto& newcomer : file.newcomers) {
    judge_relocations(file, *newcomer.image, findings);
  }
}

/// The file itself is looked at with the machine, which is also judged when the file cannot be read.
void check_library_mounts(CaseFile& file, Findings& findings) {
  const auto mountinfo = read_file(probe::inside(file.process_root, "/proc/self/mountinfo")).value_or("");
  for (const auto& newcomer : file.newcomers) {
    const auto mount =
        newcomer.image == file.image ? std::nullopt : mount_of(real_path(newcomer.image->path), mountinfo);
    if (!mount || !mount->has("noexec")) {
      continue;
    }
    const auto place = newcomer.image->path.parent_path().string();
    auto finding = finding_about(file, *newcomer.image, "DCU116", {{"directory", place}});
    finding.evidence.push_back({"file", "/proc/self/mountinfo: " + mount->point.string() + " is " +
                                            mount->type + ", " + mount->options});
    finding.evidence.push_back({"loader says", "failed to map segment from shared object"});
    finding.fix = finding.chinese.fix = "mount -o remount,exec " + mount->point.string();
    findings.push_back(std::move(finding));
  }
}

} // namespace

std::vector<Check> sanity_checks() {
  return {{{"DCU101", "DCU102", "DCU103", "DCU104", "DCU105", "DCU106", "DCU107", "DCU108"}, check_kind},
          {{"DCU109", "DCU110"}, check_machine},
          {{"DCU113"}, check_headers},
          {{"DCU114"}, check_type},
          {{"DCU111", "DCU112"}, check_whole}};
}

std::vector<Check> mapping_checks() {
  return {{{"DCU115"}, check_stack},
          {{"DCU117"}, check_tls},
          {{"DCU116"}, check_library_mounts},
          {{"DCU118", "DCU119"}, check_relocations}};
}

} // namespace dcuop::doctor

#include "dynamic.hpp"

#include <algorithm>

#include <elf.h>

namespace dcuop::elf {

namespace {

constexpr std::uint64_t dynamic_entries_limit = 16384;
constexpr std::uint64_t string_limit = 64 << 10; // a RUNPATH of a nix store runs to tens of KiB
// https://android.googlesource.com/platform/bionic/+/refs/heads/main/libc/include/elf.h
constexpr std::int64_t dt_android_rel = 0x6000000f;
constexpr std::int64_t dt_android_rela = 0x60000011;
constexpr std::int64_t dt_android_relr = 0x6fffe000;
constexpr std::uint64_t strings_limit = 16
                                        << 20; // of all strings: damaged entries may name one over and over

/// Strings of .dynstr, each read by itself: that table alone has tens of MiB in the torch libraries.
class Strings {
 public:
  Strings(const ElfFile& file, std::optional<std::uint64_t> offset, std::uint64_t length)
      : file_(file), offset_(offset), length_(length) {}

  std::string at(std::uint64_t index) {
    if (!offset_ || index >= length_ || budget_ == 0) {
      return {};
    }
    std::string text = file_.bytes(*offset_ + index, std::min<std::uint64_t>(length_ - index, 256), 256);
    if (text.find('\0') == std::string::npos) {
      text = file_.bytes(*offset_ + index, length_ - index, string_limit);
    }
    text.resize(std::min(text.find('\0'), text.size()));
    budget_ -= std::min<std::uint64_t>(budget_, text.size() + 1);
    return text;
  }

 private:
  const ElfFile& file_;
  std::optional<std::uint64_t> offset_;
  std::uint64_t length_;
  std::uint64_t budget_ = strings_limit;
};

std::vector<Elf64_Dyn> dynamic_entries(const ElfFile& file, const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) {
    if (segment.type != PT_DYNAMIC) {
      continue;
    }
    auto entries = file.table<Elf64_Dyn>(
        segment.offset, std::min(segment.file_size / sizeof(Elf64_Dyn), dynamic_entries_limit));
    const auto end = std::find_if(entries.begin(), entries.end(),
                                  [](const Elf64_Dyn& entry) { return entry.d_tag == DT_NULL; });
    entries.erase(end, entries.end());
    return entries;
  }
  return {};
}

void note_table(const Elf64_Dyn& entry, Dynamic& dynamic) {
  const std::uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
  case DT_STRTAB:
    dynamic.strings.address = value;
    break;
  case DT_STRSZ:
    dynamic.strings.length = value;
    break;
  case DT_SYMTAB:
    dynamic.symbols.address = value;
    break;
  case DT_HASH:
    dynamic.hash.address = value;
    break;
  case DT_GNU_HASH:
    dynamic.gnu_hash.address = value;
    break;
  case DT_VERSYM:
    dynamic.version_symbols.address = value;
    break;
  case DT_VERNEED:
    dynamic.version_needs.address = value;
    break;
  case DT_VERNEEDNUM:
    dynamic.version_needs.length = value;
    break;
  case DT_VERDEF:
    dynamic.version_definitions.address = value;
    break;
  case DT_VERDEFNUM:
    dynamic.version_definitions.length = value;
    break;
  case DT_RELA:
    dynamic.relocations.address = value;
    break;
  case DT_RELASZ:
    dynamic.relocations.length = value;
    break;
  case DT_JMPREL:
    dynamic.plt_relocations.address = value;
    break;
  case DT_PLTRELSZ:
    dynamic.plt_relocations.length = value;
    break;
  default:
    break;
  }
}

std::optional<Packed> packed_form(std::int64_t tag) {
  switch (tag) {
  case DT_RELR:
    return Packed::relr;
  case dt_android_relr:
    return Packed::android_relr;
  case dt_android_rel:
  case dt_android_rela:
    return Packed::android_rela;
  default:
    return std::nullopt;
  }
}

/// The lengths (DT_RELRSZ and alike) are not asked: glibc looks at the presence of DT_RELR alone.
void note_packed(const Elf64_Dyn& entry, Dynamic& dynamic) {
  auto& forms = dynamic.packed_relocations;
  const auto form = packed_form(entry.d_tag);
  if (form && std::find(forms.begin(), forms.end(), *form) == forms.end()) {
    forms.push_back(*form);
  }
}

void note_text(const Elf64_Dyn& entry, Strings& strings, Dynamic& dynamic) {
  const std::uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
  case DT_NEEDED:
    dynamic.needed.push_back(strings.at(value));
    break;
  case DT_SONAME:
    dynamic.soname = strings.at(value);
    break;
  case DT_RPATH:
    dynamic.rpath = strings.at(value);
    break;
  case DT_RUNPATH:
    dynamic.runpath = strings.at(value);
    break;
  case DT_FLAGS:
    dynamic.flags = value;
    break;
  case DT_FLAGS_1:
    dynamic.flags_1 = value;
    break;
  default:
    break;
  }
}

/// The highest symbol of the chains of a DT_GNU_HASH, plus one. It holds the defined symbols only.
std::uint64_t count_by_gnu_hash(const ElfFile& file, const std::vector<Segment>& segments,
                                std::uint64_t address) {
  const auto offset = file_offset(segments, address);
  const auto head = offset ? file.table<std::uint32_t>(*offset, 4) : std::vector<std::uint32_t>{};
  if (head.size() < 4) {
    return 0;
  }
  const std::uint64_t buckets_at = *offset + 16 + std::uint64_t{head[2]} * 8;
  const auto buckets = file.table<std::uint32_t>(buckets_at, head[0]);
  const std::uint64_t first_hashed = head[1];
  const std::uint64_t last_chain = buckets.empty() ? 0 : *std::max_element(buckets.begin(), buckets.end());
  if (last_chain < first_hashed || last_chain == 0) {
    return first_hashed;
  }
  const std::uint64_t chains_at = buckets_at + std::uint64_t{head[0]} * 4;
  constexpr std::uint64_t block = 1024;
  for (std::uint64_t index = last_chain;; index += block) {
    const auto hashes = file.table<std::uint32_t>(chains_at + (index - first_hashed) * 4, block);
    const auto end =
        std::find_if(hashes.begin(), hashes.end(), [](std::uint32_t hash) { return (hash & 1U) != 0; });
    if (end != hashes.end() || hashes.size() < block) {
      return index + static_cast<std::uint64_t>(end - hashes.begin()) + 1;
    }
  }
}

/// Undefined symbols are in no GNU hash chain, but every one that matters has a relocation.
std::uint64_t count_by_relocations(const ElfFile& file, const std::vector<Segment>& segments,
                                   const TableAt& relocations) {
  const auto offset = file_offset(segments, relocations.address);
  if (!offset) {
    return 0;
  }
  std::uint64_t count = 0;
  constexpr std::uint64_t block = 16384;
  const std::uint64_t total = relocations.length / sizeof(Elf64_Rela);
  for (std::uint64_t done = 0; done < total; done += block) {
    const auto entries =
        file.table<Elf64_Rela>(*offset + done * sizeof(Elf64_Rela), std::min(block, total - done));
    if (entries.empty()) {
      break;
    }
    for (const Elf64_Rela& entry : entries) {
      count = std::max<std::uint64_t>(count, ELF64_R_SYM(entry.r_info) + 1);
    }
  }
  return count;
}

} // namespace

Dynamic read_dynamic(const ElfFile& file, const std::vector<Segment>& segments) {
  Dynamic dynamic;
  const auto entries = dynamic_entries(file, segments);
  for (const Elf64_Dyn& entry : entries) {
    note_table(entry, dynamic);
    note_packed(entry, dynamic);
  }
  Strings strings(file, file_offset(segments, dynamic.strings.address), dynamic.strings.length);
  for (const Elf64_Dyn& entry : entries) {
    note_text(entry, strings, dynamic);
  }
  return dynamic;
}

std::uint64_t count_symbols(const ElfFile& file, const std::vector<Segment>& segments, const Dynamic& dynamic,
                            const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    if (section.type == SHT_DYNSYM && section.address == dynamic.symbols.address) {
      return section.size / sizeof(Elf64_Sym);
    }
  }
  if (dynamic.hash.address != 0) {
    const auto offset = file_offset(segments, dynamic.hash.address);
    const auto head = offset ? file.table<std::uint32_t>(*offset, 2) : std::vector<std::uint32_t>{};
    if (head.size() == 2) {
      return head[1]; // nchain
    }
  }
  const std::uint64_t defined =
      dynamic.gnu_hash.address != 0 ? count_by_gnu_hash(file, segments, dynamic.gnu_hash.address) : 0;
  return std::max({defined, count_by_relocations(file, segments, dynamic.relocations),
                   count_by_relocations(file, segments, dynamic.plt_relocations)});
}

} // namespace dcuop::elf

#include "symbols.hpp"

#include <algorithm>
#include <cstring>

#include <elf.h>

#include "dcuop/support/error.hpp"

namespace dcuop::elf {

namespace {

constexpr std::uint64_t string_table_limit = std::uint64_t{1} << 30;
constexpr std::uint64_t version_table_limit = std::uint64_t{1} << 20;
constexpr std::size_t version_limit = 0x8000; // an index has 15 bits
constexpr std::uint16_t hidden_bit = 0x8000;

struct VersionName {
  std::string name;
  std::string file; ///< of a needed one
};
using VersionNames = std::vector<VersionName>; ///< by version index

/// .dynstr. Linkers share the tails of names, so that what is taken out of it may pass its length, but not by such a
/// factor: damaged tables name one long string over and over.
class Names {
 public:
  Names(std::string table, std::string origin)
      : table_(std::move(table)), origin_(std::move(origin)), left_(table_.size() * 8 + (1 << 20)) {}

  /// Throws Error(usage) when that factor is passed.
  std::string at(std::uint64_t offset) {
    if (offset >= table_.size()) {
      return {};
    }
    std::string name = table_.substr(offset, table_.find('\0', offset) - offset);
    take(name.size());
    return name;
  }
  /// A name that is copied.
  void take(std::uint64_t length) {
    if (length > left_) {
      throw Error(ExitCode::usage, origin_ + ": damaged .dynsym: its names overlap",
                  "build or copy the file again");
    }
    left_ -= length;
  }

 private:
  std::string table_;
  std::string origin_;
  std::uint64_t left_;
};

template <typename T> std::optional<T> entry_at(std::string_view table, std::uint64_t offset) {
  if (offset > table.size() || table.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T entry;
  std::memcpy(&entry, table.data() + offset, sizeof(T));
  return entry;
}

void name_version(VersionNames& names, std::size_t index, VersionName name) {
  index &= version_limit - 1U;
  if (index >= names.size()) {
    names.resize(index + 1);
  }
  names[index] = std::move(name);
}

/// The version tables are chains of offsets: their length is known to the section header alone, so they are
/// read up to a limit.
std::string version_table(const ElfFile& file, const Image& image, std::uint64_t address) {
  const auto offset = address == 0 ? std::nullopt : file_offset(image.segments, address);
  if (!offset) {
    return {};
  }
  const auto section = std::find_if(image.sections.begin(), image.sections.end(),
                                    [&](const Section& candidate) { return candidate.address == address; });
  const std::uint64_t length = section == image.sections.end() ? version_table_limit : section->size;
  return file.bytes(*offset, length, version_table_limit);
}

void read_version_needs(std::string_view table, Names& strings, Image& image, VersionNames& names) {
  std::uint64_t need_at = 0;
  std::size_t read = 0;
  while (const auto need = entry_at<Elf64_Verneed>(table, need_at)) {
    VersionNeed wanted{.file = strings.at(need->vn_file), .versions = {}};
    std::uint64_t aux_at = need_at + need->vn_aux;
    for (std::size_t i = 0; i < need->vn_cnt && read < version_limit; ++i, ++read) {
      const auto aux = entry_at<Elf64_Vernaux>(table, aux_at);
      if (!aux) {
        break;
      }
      const std::string name = strings.at(aux->vna_name);
      strings.take(wanted.file.size());
      name_version(names, aux->vna_other, {.name = name, .file = wanted.file});
      if ((aux->vna_flags & VER_FLG_WEAK) == 0) {
        wanted.versions.push_back(name);
      }
      if (aux->vna_next == 0) {
        break;
      }
      aux_at += aux->vna_next;
    }
    image.version_needs.push_back(std::move(wanted));
    if (need->vn_next == 0 || ++read >= version_limit) {
      break;
    }
    need_at += need->vn_next;
  }
}

void read_version_definitions(std::string_view table, Names& strings, Image& image, VersionNames& names) {
  std::uint64_t definition_at = 0;
  std::size_t read = 0;
  while (const auto definition = entry_at<Elf64_Verdef>(table, definition_at)) {
    const auto aux = entry_at<Elf64_Verdaux>(table, definition_at + definition->vd_aux);
    const std::string name = aux ? strings.at(aux->vda_name) : std::string{};
    if ((definition->vd_flags & VER_FLG_BASE) == 0) { // the base names the file, not a node
      name_version(names, definition->vd_ndx, {.name = name, .file = {}});
      image.version_definitions.push_back(name);
    }
    if (definition->vd_next == 0 || ++read >= version_limit) {
      break;
    }
    definition_at += definition->vd_next;
  }
}

/// As glibc's do_lookup_x takes or passes over an entry.
bool can_satisfy(const Elf64_Sym& entry) {
  const unsigned visibility = ELF64_ST_VISIBILITY(entry.st_other);
  return entry.st_shndx != SHN_UNDEF && visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
         (entry.st_value != 0 || entry.st_shndx == SHN_ABS || ELF64_ST_TYPE(entry.st_info) == STT_TLS);
}

Symbol make_symbol(const Elf64_Sym& entry, std::string name) {
  const unsigned binding = ELF64_ST_BIND(entry.st_info);
  return {.name = std::move(name),
          .version = {},
          .version_file = {},
          .defined = can_satisfy(entry),
          .weak = binding == STB_WEAK,
          .global = binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE,
          .default_version = true,
          .type = static_cast<std::uint8_t>(ELF64_ST_TYPE(entry.st_info)),
          .version_index = 0,
          .value = entry.st_value,
          .size = entry.st_size};
}

void set_version(Symbol& symbol, std::uint16_t raw_index, const VersionNames& names, Names& strings) {
  symbol.version_index = raw_index & static_cast<std::uint16_t>(~hidden_bit);
  symbol.default_version = (raw_index & hidden_bit) == 0;
  if (symbol.version_index > VER_NDX_GLOBAL && symbol.version_index < names.size()) {
    const VersionName& version = names[symbol.version_index];
    strings.take(version.name.size() + version.file.size());
    symbol.version = version.name;
    symbol.version_file = version.file;
  }
}

} // namespace

void read_symbols(const ElfFile& file, const Dynamic& dynamic, Image& image) {
  const auto symbols_at = file_offset(image.segments, dynamic.symbols.address);
  const auto strings_at = file_offset(image.segments, dynamic.strings.address);
  if (!symbols_at || !strings_at) {
    return;
  }
  Names strings(file.bytes(*strings_at, dynamic.strings.length, string_table_limit), image.path.string());
  VersionNames names;
  read_version_needs(version_table(file, image, dynamic.version_needs.address), strings, image, names);
  read_version_definitions(version_table(file, image, dynamic.version_definitions.address), strings, image,
                           names);

  const std::uint64_t count = count_symbols(file, image.segments, dynamic, image.sections);
  const auto entries = file.table<Elf64_Sym>(*symbols_at, count);
  const auto versions_at = dynamic.version_symbols.address == 0
                               ? std::nullopt
                               : file_offset(image.segments, dynamic.version_symbols.address);
  const auto versions =
      versions_at ? file.table<std::uint16_t>(*versions_at, entries.size()) : std::vector<std::uint16_t>{};
  image.has_version_section = versions_at.has_value();
  image.symbols.reserve(entries.empty() ? 0 : entries.size() - 1);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    Symbol& symbol = image.symbols.emplace_back(make_symbol(entries[i], strings.at(entries[i].st_name)));
    if (i < versions.size()) {
      set_version(symbol, versions[i], names, strings);
    }
  }
}

} // namespace dcuop::elf

#include "ld_cache.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <elf.h>

namespace dcuop::elf {

namespace {

constexpr std::string_view new_magic = "glibc-ld.so.cache1.1";
constexpr std::string_view old_magic = "ld.so-1.7.0";
constexpr std::uint64_t hwcap_extension = std::uint64_t{1} << 62;    // DL_CACHE_HWCAP_EXTENSION
constexpr std::uint64_t isa_level_mask = std::uint64_t{0x3ff} << 32; // DL_CACHE_HWCAP_ISA_LEVEL_MASK
constexpr std::uint32_t extension_magic = 0xeaa42174;                // cache_extension_magic
constexpr std::uint32_t tag_glibc_hwcaps = 1;

struct FileHeader { // struct cache_file_new
  char magic[20];
  std::uint32_t libraries;
  std::uint32_t strings_length;
  std::uint8_t flags;
  std::uint8_t padding[3];
  std::uint32_t extension_offset;
  std::uint32_t unused[3];
};
static_assert(sizeof(FileHeader) == 48);

struct FileEntry { // struct file_entry_new
  std::int32_t flags;
  std::uint32_t key, value, os_version;
  std::uint64_t hwcap;
};
static_assert(sizeof(FileEntry) == 24);

struct ExtensionSection {
  std::uint32_t tag, flags, offset, size;
};

template <typename T> std::optional<T> load(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) {
    return {};
  }
  const std::string_view rest = bytes.substr(offset);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

/// Until glibc 2.31 the new format follows an old one, aligned to 8 bytes.
std::string_view new_format(std::string_view bytes) {
  if (!bytes.starts_with(old_magic)) {
    return bytes;
  }
  const auto count = load<std::uint32_t>(bytes, 12);
  const std::uint64_t end = (16 + std::uint64_t{count.value_or(0)} * 12 + 7) / 8 * 8;
  return end < bytes.size() ? bytes.substr(end) : std::string_view{};
}

/// Names of the glibc-hwcaps subdirectories, by the index that entries give.
std::vector<std::string_view> hwcap_names(std::string_view bytes, std::uint32_t extension_offset) {
  std::vector<std::string_view> names;
  const auto magic = load<std::uint32_t>(bytes, extension_offset);
  const auto count = load<std::uint32_t>(bytes, std::uint64_t{extension_offset} + 4);
  if (extension_offset == 0 || magic != extension_magic || !count) {
    return names;
  }
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto section =
        load<ExtensionSection>(bytes, std::uint64_t{extension_offset} + 8 + i * sizeof(ExtensionSection));
    if (!section) {
      break;
    }
    if (section->tag != tag_glibc_hwcaps) {
      continue;
    }
    for (std::uint64_t at = 0; at + 4 <= section->size; at += 4) {
      const auto name = load<std::uint32_t>(bytes, section->offset + at);
      if (!name) {
        break;
      }
      names.push_back(text_at(bytes, *name));
    }
    break;
  }
  return names;
}

/// FLAG_ELF_LIBC6 and the architecture's flag (sysdeps/generic/ldconfig.h).
std::int32_t flags_of(std::uint16_t machine) {
  switch (machine) {
  case EM_X86_64:
    return 0x0303;
  case EM_AARCH64:
    return 0x0a03;
  default:
    return -1;
  }
}

} // namespace

LdCache::LdCache(std::string_view bytes, std::uint16_t machine, const std::vector<std::string>& hwcaps) {
  const std::string_view cache = new_format(bytes);
  const auto header = load<FileHeader>(cache, 0);
  if (!header || !cache.starts_with(new_magic)) {
    return;
  }
  const auto names = hwcap_names(cache, header->extension_offset);
  // ldconfig shares strings and their tails, but not by such a factor: a damaged cache names one over and over.
  std::uint64_t left = std::uint64_t{cache.size()} * 8;
  const std::int32_t wanted_flags = flags_of(machine);
  for (std::uint64_t i = 0; i < header->libraries; ++i) {
    const auto entry = load<FileEntry>(cache, sizeof(FileHeader) + i * sizeof(FileEntry));
    if (!entry) {
      break;
    }
    std::size_t rank = hwcaps.size();
    if ((entry->hwcap & ~isa_level_mask & ~std::uint64_t{0xffffffff}) == hwcap_extension) {
      const std::uint64_t index = entry->hwcap & 0xffffffff;
      const std::string_view name = index < names.size() ? names[index] : std::string_view{};
      const auto usable = std::find(hwcaps.begin(), hwcaps.end(), name);
      if (usable == hwcaps.end()) {
        continue;
      }
      rank = static_cast<std::size_t>(usable - hwcaps.begin());
    } else if (entry->hwcap != 0) {
      continue; // subdirectories of the kind that glibc 2.37 dropped
    }
    const std::string_view key = text_at(cache, entry->key);
    const std::string_view path = text_at(cache, entry->value);
    if (entry->flags != wanted_flags || key.empty() || path.empty()) {
      continue;
    }
    if (key.size() + path.size() > left) {
      break;
    }
    left -= key.size() + path.size();
    const auto known = entries_.find(key);
    if (known == entries_.end()) {
      entries_.emplace(key, Choice{std::string(path), rank});
    } else if (rank < known->second.rank) {
      known->second = {std::string(path), rank};
    }
  }
}

std::filesystem::path LdCache::find(const std::string& soname) const {
  const auto found = entries_.find(soname);
  return found == entries_.end() ? std::filesystem::path{} : std::filesystem::path(found->second.path);
}

} // namespace dcuop::elf

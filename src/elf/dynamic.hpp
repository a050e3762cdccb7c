#pragma once
// The dynamic table (PT_DYNAMIC): what ld.so reads first, and where the other tables are.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/elf/image.hpp"

#include "elf_file.hpp"

namespace dcuop::elf {

/// A table's address when loaded and its length, as the dynamic table says; 0 when absent.
struct TableAt {
  std::uint64_t address = 0;
  std::uint64_t length = 0; ///< bytes, or entries for the version tables
};

struct Dynamic {
  std::vector<std::string> needed;
  std::string soname, rpath, runpath;
  std::uint64_t flags = 0, flags_1 = 0;
  TableAt strings, symbols, hash, gnu_hash, version_symbols, version_needs, version_definitions;
  TableAt relocations, plt_relocations;
  std::vector<Packed> packed_relocations; ///< in the table's order
};

[[nodiscard]] Dynamic read_dynamic(const ElfFile& file, const std::vector<Segment>& segments);

/// Entries of .dynsym: from its section header, else from the hash tables and the relocations.
[[nodiscard]] std::uint64_t count_symbols(const ElfFile& file, const std::vector<Segment>& segments,
                                          const Dynamic& dynamic, const std::vector<Section>& sections);

} // namespace dcuop::elf

#include <algorithm>

#include <elf.h>

#include "dcuop/elf/loader.hpp"
#include "dcuop/support/error.hpp"

#include "dynamic.hpp"
#include "elf_file.hpp"

namespace dcuop::elf {

namespace {

/// Places in .dynsym; the image's list is without the null symbol.
std::vector<std::uint64_t> indices_of(const Image& image, std::string_view name) {
  std::vector<std::uint64_t> indices;
  for (std::size_t i = 0; i < image.symbols.size(); ++i) {
    if (image.symbols[i].name == name) {
      indices.push_back(i + 1);
    }
  }
  return indices;
}

bool names_one(const ElfFile& file, const Image& image, const TableAt& table,
               const std::vector<std::uint64_t>& wanted) {
  const auto offset = file_offset(image.segments, table.address);
  constexpr std::uint64_t block = 16384;
  const std::uint64_t total = offset ? table.length / sizeof(Elf64_Rela) : 0;
  for (std::uint64_t done = 0; done < total; done += block) {
    const auto entries =
        file.table<Elf64_Rela>(*offset + done * sizeof(Elf64_Rela), std::min(block, total - done));
    if (entries.empty()) {
      return false;
    }
    const bool found = std::any_of(entries.begin(), entries.end(), [&wanted](const Elf64_Rela& entry) {
      return std::find(wanted.begin(), wanted.end(), ELF64_R_SYM(entry.r_info)) != wanted.end();
    });
    if (found) {
      return true;
    }
  }
  return false;
}

} // namespace

bool has_relocation_against(const Image& image, std::string_view symbol) {
  const auto wanted = indices_of(image, symbol);
  if (wanted.empty()) {
    return false;
  }
  try {
    const ElfFile file = ElfFile::open(image.path);
    const Dynamic dynamic = read_dynamic(file, image.segments);
    return names_one(file, image, dynamic.relocations, wanted) ||
           names_one(file, image, dynamic.plt_relocations, wanted);
  } catch (const Error&) { // it was there when the image was read
    return false;
  }
}

} // namespace dcuop::elf

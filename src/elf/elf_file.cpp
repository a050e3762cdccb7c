#include "elf_file.hpp"

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include "dcuop/support/error.hpp"

#include "descriptor.hpp"

namespace dcuop::elf {

namespace {

constexpr std::uint64_t name_table_limit = std::uint64_t{16} << 20;
constexpr std::uint64_t note_limit = std::uint64_t{64} << 20;

std::uint64_t saturated_end(std::uint64_t offset, std::uint64_t length) {
  const auto highest = std::numeric_limits<std::uint64_t>::max();
  return length > highest - offset ? highest : offset + length;
}

bool is_elf64_little_endian(Elf* elf) {
  std::size_t length = 0;
  const char* ident = elf_getident(elf, &length);
  return elf_kind(elf) == ELF_K_ELF && ident != nullptr && length >= EI_NIDENT &&
         ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB && elf64_getehdr(elf) != nullptr;
}

std::string name_at(const std::string& table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return {};
  }
  return table.substr(offset, table.find('\0', offset) - offset);
}

Error unreadable(const std::filesystem::path& path, const std::string& why) {
  return {ExitCode::usage, path.string() + ": " + why, "dcuop reads 64-bit little-endian ELF shared objects"};
}

} // namespace

struct ElfFile::Handle {
  std::optional<Descriptor> file; ///< empty: in memory
  Elf* elf = nullptr;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { elf_end(elf); }
};

ElfFile ElfFile::open(const std::filesystem::path& path) {
  elf_version(EV_CURRENT);
  auto handle = std::make_shared<Handle>();
  const Descriptor& file = handle->file.emplace(path);
  if (file.get() < 0) {
    throw unreadable(path, "cannot be opened: " + std::system_category().message(file.error()));
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw unreadable(path, "is not a regular file");
  }
  handle->elf = elf_begin(file.get(), ELF_C_READ, nullptr);
  if (handle->elf == nullptr || !is_elf64_little_endian(handle->elf)) {
    throw unreadable(path, "is not a 64-bit little-endian ELF file");
  }
  return ElfFile(std::move(handle), static_cast<std::uint64_t>(status.st_size));
}

std::optional<ElfFile> ElfFile::in_memory(std::string_view bytes) {
  elf_version(EV_CURRENT);
  if (bytes.size() < sizeof(Elf64_Ehdr)) {
    return std::nullopt;
  }
  auto handle = std::make_shared<Handle>();
  // elf_memory opens for reading only: the bytes are not written to.
  handle->elf = elf_memory(const_cast<char*>(bytes.data()), bytes.size());
  if (handle->elf == nullptr || !is_elf64_little_endian(handle->elf)) {
    return std::nullopt;
  }
  return ElfFile(std::move(handle), bytes.size());
}

ElfFile::ElfFile(std::shared_ptr<Handle> handle, std::uint64_t size)
    : handle_(std::move(handle)), size_(size) {
  const Elf64_Ehdr& ehdr = *elf64_getehdr(handle_->elf);
  header_.type = ehdr.e_type;
  header_.machine = ehdr.e_machine;
  header_.os_abi = ehdr.e_ident[EI_OSABI];
  header_.abi_version = ehdr.e_ident[EI_ABIVERSION];
  header_.flags = ehdr.e_flags;
  header_.program_headers_end = saturated_end(ehdr.e_phoff, std::uint64_t{ehdr.e_phnum} * sizeof(Elf64_Phdr));
  if (ehdr.e_shoff != 0) {
    header_.section_headers_end =
        saturated_end(ehdr.e_shoff, std::uint64_t{ehdr.e_shnum} * sizeof(Elf64_Shdr));
  }
}

std::optional<std::vector<Segment>> ElfFile::segments() const {
  std::size_t count = 0;
  if (elf_getphdrnum(handle_->elf, &count) != 0) {
    return std::nullopt;
  }
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr phdr;
    if (gelf_getphdr(handle_->elf, static_cast<int>(i), &phdr) == nullptr) {
      return std::nullopt;
    }
    segments.push_back({.type = phdr.p_type,
                        .flags = phdr.p_flags,
                        .offset = phdr.p_offset,
                        .file_size = phdr.p_filesz,
                        .address = phdr.p_vaddr,
                        .memory_size = phdr.p_memsz,
                        .alignment = phdr.p_align});
  }
  return segments;
}

std::vector<Section> ElfFile::sections() const {
  std::size_t count = 0;
  std::size_t names_index = 0;
  if (elf_getshdrnum(handle_->elf, &count) != 0 || count == 0 ||
      elf_getshdrstrndx(handle_->elf, &names_index) != 0) {
    return {};
  }
  GElf_Shdr shdr;
  std::string names;
  if (gelf_getshdr(elf_getscn(handle_->elf, names_index), &shdr) != nullptr && shdr.sh_type == SHT_STRTAB) {
    names = bytes(shdr.sh_offset, shdr.sh_size, name_table_limit);
  }
  std::vector<Section> sections;
  std::uint64_t budget = name_table_limit;
  for (std::size_t i = 1; i < count; ++i) {
    if (gelf_getshdr(elf_getscn(handle_->elf, i), &shdr) == nullptr) {
      return {};
    }
    Section section{.name = name_at(names, shdr.sh_name),
                    .type = shdr.sh_type,
                    .flags = shdr.sh_flags,
                    .address = shdr.sh_addr,
                    .offset = shdr.sh_offset,
                    .size = shdr.sh_size};
    if (section.name.size() > budget) {
      return {};
    }
    budget -= section.name.size();
    sections.push_back(std::move(section));
  }
  return sections;
}

std::string ElfFile::bytes(std::uint64_t offset, std::uint64_t length, std::uint64_t limit) const {
  if (offset >= size_) {
    return {};
  }
  const std::uint64_t wanted = std::min({length, limit, size_ - offset});
  if (wanted == 0) {
    return {};
  }
  if (!handle_->file) {
    const Elf_Data* data =
        elf_getdata_rawchunk(handle_->elf, static_cast<std::int64_t>(offset), wanted, ELF_T_BYTE);
    return data == nullptr ? std::string{} : std::string(static_cast<const char*>(data->d_buf), data->d_size);
  }
  return handle_->file->read(offset, wanted);
}

std::optional<std::string> ElfFile::note(const std::vector<Segment>& segments, std::string_view owner,
                                         std::uint32_t type) const {
  for (const Segment& segment : segments) {
    if (segment.type != PT_NOTE || segment.offset >= size_ || segment.file_size > size_ - segment.offset ||
        segment.file_size > note_limit) {
      continue;
    }
    Elf_Data* data =
        elf_getdata_rawchunk(handle_->elf, static_cast<std::int64_t>(segment.offset), segment.file_size,
                             segment.alignment == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (data == nullptr) {
      continue;
    }
    const std::string_view content(static_cast<const char*>(data->d_buf), data->d_size);
    GElf_Nhdr header;
    std::size_t name_at = 0;
    std::size_t content_at = 0;
    std::size_t next = 0;
    while ((next = gelf_getnote(data, next, &header, &name_at, &content_at)) > 0) {
      const std::string_view name = content.substr(name_at, header.n_namesz);
      if (header.n_type == type && name.substr(0, name.find('\0')) == owner) {
        return std::string(content.substr(content_at, header.n_descsz));
      }
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> file_offset(const std::vector<Segment>& segments, std::uint64_t address) {
  for (const Segment& segment : segments) {
    if (segment.type == PT_LOAD && address >= segment.address &&
        address - segment.address < segment.file_size) {
      const std::uint64_t inside = address - segment.address;
      if (segment.offset <= std::numeric_limits<std::uint64_t>::max() - inside) {
        return segment.offset + inside;
      }
    }
  }
  return std::nullopt;
}

} // namespace dcuop::elf

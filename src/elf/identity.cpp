#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include <elf.h>
#include <sys/stat.h>

#include "dcuop/elf/image.hpp"

#include "descriptor.hpp"

namespace dcuop::elf {

namespace {

constexpr std::size_t ehdr64_size = sizeof(Elf64_Ehdr);

/// An unsigned integer of `size` bytes in the file's byte order.
std::uint32_t field(std::string_view bytes, std::size_t offset, std::size_t size, bool little_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = offset + (little_endian ? size - 1 - i : i);
    value = (value << 8U) | static_cast<std::uint8_t>(bytes[at]);
  }
  return value;
}

void read_header(std::string_view head, Identity& identity) {
  identity.kind = FileKind::elf;
  identity.elf_class = head[EI_CLASS] == ELFCLASS32 ? 32 : head[EI_CLASS] == ELFCLASS64 ? 64 : 0;
  identity.little_endian = head[EI_DATA] != ELFDATA2MSB;
  identity.os_abi = static_cast<std::uint8_t>(head[EI_OSABI]);
  identity.abi_version = static_cast<std::uint8_t>(head[EI_ABIVERSION]);
  const bool little = identity.little_endian;
  identity.type = static_cast<std::uint16_t>(field(head, offsetof(Elf64_Ehdr, e_type), 2, little));
  identity.machine = static_cast<std::uint16_t>(field(head, offsetof(Elf64_Ehdr, e_machine), 2, little));
  const std::size_t flags_at =
      identity.elf_class == 32 ? offsetof(Elf32_Ehdr, e_flags) : offsetof(Elf64_Ehdr, e_flags);
  identity.flags = field(head, flags_at, 4, little);
}

FileKind kind_of(std::string_view head) {
  if (head.empty()) {
    return FileKind::empty;
  }
  if (head.starts_with("version https://git-lfs")) {
    return FileKind::lfs_pointer;
  }
  if (head.starts_with("!<arch>\n") || head.starts_with("!<thin>\n")) {
    return FileKind::archive;
  }
  if (head.size() < ehdr64_size) {
    return FileKind::too_short; // what ld.so says, whatever the bytes are
  }
  return head.starts_with(ELFMAG) ? FileKind::elf : FileKind::not_elf;
}

} // namespace

Identity identify(const std::filesystem::path& path) {
  Identity identity;
  const Descriptor file(path);
  if (file.get() < 0) {
    identity.kind =
        file.error() == ENOENT || file.error() == ENOTDIR ? FileKind::missing : FileKind::unreadable;
    return identity;
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    identity.kind = S_ISDIR(status.st_mode) ? FileKind::directory : FileKind::unreadable;
    return identity;
  }
  identity.file_size = static_cast<std::uint64_t>(status.st_size);
  const std::string head = file.read(0, ehdr64_size);
  if (head.empty() && identity.file_size > 0) {
    identity.kind = FileKind::unreadable; // an I/O error
    return identity;
  }
  identity.kind = kind_of(head);
  if (identity.kind == FileKind::elf) {
    read_header(head, identity);
  }
  return identity;
}

std::string read_range(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t size,
                       std::uint64_t limit) {
  const Descriptor file(path);
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {};
  }
  const auto length = static_cast<std::uint64_t>(status.st_size);
  if (offset > length || size > length - offset) {
    return {};
  }
  return file.read(offset, std::min(size, limit));
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
  case EM_386:
    return "x86 (32-bit)";
  case EM_ARM:
    return "ARM (32-bit)";
  case EM_PPC64:
    return "ppc64";
  case EM_S390:
    return "s390x";
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "AArch64";
  case EM_CUDA:
    return "NVIDIA CUDA";
  case EM_AMDGPU:
    return "AMD GPU";
  case EM_RISCV:
    return "RISC-V";
  case 258: // EM_LOONGARCH: newer than the oldest supported <elf.h>
    return "LoongArch";
  default:
    return "machine " + std::to_string(machine);
  }
}

} // namespace dcuop::elf

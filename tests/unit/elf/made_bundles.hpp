#pragma once
// Code objects and offload bundles written by hand, from the layouts that their specifications give.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <elf.h>
#include <nettle/md5.h>
#include <nlohmann/json.hpp>
#include <zlib.h>
#include <zstd.h>

namespace dcuop::elf::test {

template <typename T> void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

inline std::string as_msgpack(const nlohmann::json& value) {
  const auto packed = nlohmann::json::to_msgpack(value);
  return {packed.begin(), packed.end()};
}

struct CodeObjectShape {
  std::uint8_t abi_version = 2; // code object V4
  std::uint32_t flags = 0x52f;  // gfx906
  std::uint8_t os_abi = 64;
  std::uint16_t machine = EM_AMDGPU;
  std::string owner = "AMDGPU";
};

/// A code object with nothing but its header and its metadata note.
inline std::string code_object(const std::string& metadata, const CodeObjectShape& shape = {}) {
  std::string note;
  put(note, static_cast<std::uint32_t>(shape.owner.size() + 1));
  put(note, static_cast<std::uint32_t>(metadata.size()));
  put(note, std::uint32_t{32});
  note += shape.owner;
  note.append(4 - shape.owner.size() % 4, '\0');
  note += metadata;
  note.append((4 - note.size() % 4) % 4, '\0');

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = shape.os_abi;
  header.e_ident[EI_ABIVERSION] = shape.abi_version;
  header.e_type = ET_DYN;
  header.e_machine = shape.machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_flags = shape.flags;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_flags = PF_R;
  segment.p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  segment.p_filesz = segment.p_memsz = note.size();
  segment.p_align = 4;
  std::string bytes;
  put(bytes, header);
  put(bytes, segment);
  return bytes + note;
}

inline nlohmann::json metadata_of(const std::string& target, const std::vector<std::string>& kernels) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& name : kernels) {
    list.push_back({{".name", name},
                    {".symbol", name + ".kd"},
                    {".vgpr_count", 17},
                    {".sgpr_count", 300},
                    {".agpr_count", 4},
                    {".vgpr_spill_count", 2},
                    {".sgpr_spill_count", 1},
                    {".group_segment_fixed_size", 65536},
                    {".private_segment_fixed_size", 24},
                    {".kernarg_segment_size", 56},
                    {".wavefront_size", 64},
                    {".max_flat_workgroup_size", 1024},
                    {".uses_dynamic_stack", false},
                    {".fp64_status", 0}, // DTK's own
                    {".reqd_workgroup_size", {64, 1, 1}},
                    {".args", {{{".name", "not a kernel"}, {".size", 8}, {".vgpr_count", 99}}}}});
  }
  return {{"amdhsa.version", {1, 1}}, {"amdhsa.target", target}, {"amdhsa.kernels", list}};
}

using Entries = std::vector<std::pair<std::string, std::string>>; ///< id and content

/// An uncompressed bundle, code objects aligned as -bundle-align does.
inline std::string bundle(const Entries& entries, std::size_t alignment = 4096) {
  std::size_t header = 32;
  for (const auto& [id, content] : entries) {
    header += 24 + id.size();
  }
  const auto aligned = [&](std::size_t offset) { return (offset + alignment - 1) / alignment * alignment; };
  std::string head = "__CLANG_OFFLOAD_BUNDLE__";
  put(head, std::uint64_t{entries.size()});
  std::string body;
  for (const auto& [id, content] : entries) {
    const std::size_t offset = aligned(header + body.size());
    body.append(offset - header - body.size(), '\0');
    put(head, std::uint64_t{offset});
    put(head, std::uint64_t{content.size()});
    put(head, std::uint64_t{id.size()});
    head += id;
    body += content;
  }
  return head + body;
}

inline std::string zlib_of(const std::string& bytes) {
  uLongf length = compressBound(bytes.size());
  std::string packed(length, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &length, reinterpret_cast<const Bytef*>(bytes.data()),
            bytes.size(), Z_BEST_COMPRESSION);
  packed.resize(length);
  return packed;
}

inline std::string zstd_of(const std::string& bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

/// As LLVM writes it in the header of a compressed bundle.
inline std::uint64_t half_md5_of(const std::string& bytes) {
  md5_ctx context;
  md5_init(&context);
  md5_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::uint64_t low = 0;
  md5_digest(&context, sizeof(low), reinterpret_cast<std::uint8_t*>(&low));
  return low;
}

/// `claimed`: the unpacked size that the header gives; `hash`: 0 as of a writer that leaves it out.
inline std::string ccob(int version, int method, const std::string& payload, std::uint64_t claimed,
                        std::uint64_t hash = 0) {
  std::string bytes = "CCOB";
  put(bytes, static_cast<std::uint16_t>(version));
  put(bytes, static_cast<std::uint16_t>(method));
  if (version >= 3) {
    put(bytes, std::uint64_t{32 + payload.size()});
    put(bytes, claimed);
  } else {
    if (version == 2) {
      put(bytes, static_cast<std::uint32_t>(24 + payload.size()));
    }
    put(bytes, static_cast<std::uint32_t>(claimed));
  }
  put(bytes, hash);
  return bytes + payload;
}

inline std::string padded(std::string bytes, std::size_t alignment = 4096) {
  bytes.append((alignment - bytes.size() % alignment) % alignment, '\0');
  return bytes;
}

} // namespace dcuop::elf::test

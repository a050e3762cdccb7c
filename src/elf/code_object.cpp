#include <limits>

#include <elf.h>

#include "dcuop/elf/bundle.hpp"

#include "elf_file.hpp"
#include "kernel_descriptor.hpp"
#include "metadata.hpp"

namespace dcuop::elf {

namespace {

constexpr std::string_view spirv_magic("\x03\x02\x23\x07", 4);
constexpr std::string_view bitcode_magic("BC\xc0\xde", 4);
constexpr std::uint8_t os_abi_amdgpu_hsa = 64;
constexpr std::uint32_t note_amdgpu_metadata = 32;
constexpr int oldest_with_msgpack = 3;
constexpr int newest_version = 6;

std::string why_not_elf(std::string_view bytes) {
  if (bytes.starts_with(bitcode_magic)) {
    return "LLVM bitcode (-fgpu-rdc), not linked code";
  }
  return bytes.starts_with(ELFMAG) ? "a damaged or cut ELF file" : "not an ELF file";
}

/// gfx10 and later, where two CUs make a WGP.
bool has_wgps(const CodeObject& object) {
  const std::string target =
      !object.target.empty() ? object.target : target_of_flags(object.elf_flags, object.code_object_version);
  const std::string_view processor = std::string_view(target).substr(0, target.find(':'));
  return processor.starts_with("gfx1") && (processor.size() == 7 || processor.ends_with("-generic"));
}

bool lie_inside(const std::vector<Segment>& segments, std::uint64_t size) {
  for (const Segment& segment : segments) {
    if (segment.offset > size || segment.file_size > size - segment.offset) {
      return false;
    }
  }
  return true;
}

} // namespace

void read_code_object(std::string_view bytes, CodeObject& into) {
  if (bytes.starts_with(spirv_magic)) {
    return; // the runtime compiles it when it is loaded: there are no kernels to describe yet
  }
  const auto file = ElfFile::in_memory(bytes);
  if (!file) {
    into.problem = why_not_elf(bytes);
    return;
  }
  const Header& header = file->header();
  if (header.machine != EM_AMDGPU || header.os_abi != os_abi_amdgpu_hsa) {
    into.problem = "an ELF file for " + machine_name(header.machine) + ", not for the AMD HSA runtime";
    return;
  }
  into.code_object_version = header.abi_version + 2;
  into.elf_flags = header.flags;
  const auto segments = file->segments();
  if (!segments || !lie_inside(*segments, bytes.size())) {
    into.problem = "cut off";
    return;
  }
  if (into.code_object_version > newest_version) {
    into.problem = "code object version " + std::to_string(into.code_object_version) + " is unknown";
    return;
  }
  if (into.code_object_version < oldest_with_msgpack) {
    return; // YAML metadata
  }
  const auto note = file->note(*segments, "AMDGPU", note_amdgpu_metadata);
  if (!note) {
    into.problem = "no metadata note (NT_AMDGPU_METADATA): the runtime refuses it";
    return;
  }
  if (const std::string wrong = read_metadata(*note, into); !wrong.empty()) {
    into.problem = "damaged metadata note: " + wrong;
  } else if (has_wgps(into)) {
    read_workgroup_modes(*file, *segments, into.kernels);
  }
}

} // namespace dcuop::elf

#include <algorithm>
#include <limits>

#include <elf.h>

#include "dcuop/elf/image.hpp"
#include "dcuop/support/error.hpp"

#include "dynamic.hpp"
#include "elf_file.hpp"
#include "image_reader.hpp"
#include "symbols.hpp"

namespace dcuop::elf {

namespace {

std::string why_not_elf(FileKind kind) {
  switch (kind) {
  case FileKind::missing:
    return "no such file";
  case FileKind::unreadable:
    return "cannot be read";
  case FileKind::directory:
    return "is a directory";
  case FileKind::empty:
    return "is empty";
  case FileKind::too_short:
    return "is too short for an ELF header";
  case FileKind::lfs_pointer:
    return "is a Git LFS pointer, not the file itself";
  case FileKind::archive:
    return "is a static library";
  case FileKind::not_elf:
    return "is not an ELF file";
  case FileKind::elf:
    break;
  }
  return "";
}

std::string hint_for(FileKind kind) {
  return kind == FileKind::lfs_pointer ? "git lfs pull" : "give a shared object (.so) that a linker wrote";
}

void require_readable(const std::filesystem::path& path, const Identity& identity) {
  if (identity.kind != FileKind::elf) {
    throw Error(ExitCode::usage, path.string() + ": " + why_not_elf(identity.kind), hint_for(identity.kind));
  }
  if (identity.elf_class != 64) {
    throw Error(ExitCode::usage, path.string() + ": wrong ELF class: it is not a 64-bit file",
                "build it for this machine");
  }
  if (!identity.little_endian) {
    throw Error(ExitCode::usage, path.string() + ": is a big-endian ELF file", "build it for this machine");
  }
}

std::uint64_t end_of(const Segment& segment) {
  const auto highest = std::numeric_limits<std::uint64_t>::max();
  return segment.file_size > highest - segment.offset ? highest : segment.offset + segment.file_size;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<std::uint8_t>(byte);
    text += digits[value >> 4U];
    text += digits[value & 15U];
  }
  return text;
}

} // namespace

Image read_image(const std::filesystem::path& path, Depth depth) {
  Image image;
  image.path = path;
  image.identity = identify(path);
  require_readable(path, image.identity);
  const ElfFile file = ElfFile::open(path);
  auto segments = file.segments();
  if (!segments) {
    throw Error(ExitCode::usage, path.string() + ": its program headers are cut off or damaged",
                "build or copy the file again");
  }
  image.segments = std::move(*segments);
  image.bytes_needed = file.header().program_headers_end;
  for (const Segment& segment : image.segments) {
    if (segment.type == PT_LOAD) {
      image.bytes_needed = std::max(image.bytes_needed, end_of(segment));
    }
  }
  image.section_headers_cut = !image.truncated() && file.header().section_headers_end > file.size();

  const Dynamic dynamic = read_dynamic(file, image.segments);
  image.needed = dynamic.needed;
  image.soname = dynamic.soname;
  image.rpath = dynamic.rpath;
  image.runpath = dynamic.runpath;
  image.flags = dynamic.flags;
  image.flags_1 = dynamic.flags_1;
  image.packed_relocations = dynamic.packed_relocations;
  if (depth == Depth::dynamic_table) {
    return image;
  }
  image.sections = file.sections();
  read_symbols(file, dynamic, image);
  constexpr std::uint32_t gnu_build_id = 3;
  image.build_id = hex(file.note(image.segments, "GNU", gnu_build_id).value_or(""));
  return image;
}

std::string_view name_of(Packed form) {
  switch (form) {
  case Packed::relr:
    return "DT_RELR";
  case Packed::android_relr:
    return "DT_ANDROID_RELR";
  case Packed::android_rela:
    return "DT_ANDROID_RELA";
  }
  return "";
}

Image read_image(const std::filesystem::path& path) {
  return read_image(path, Depth::symbols);
}

const Section* Image::section(std::string_view name) const {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const Section& candidate) { return candidate.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

} // namespace dcuop::elf

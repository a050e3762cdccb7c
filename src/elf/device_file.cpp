#include <algorithm>
#include <string_view>

#include <elf.h>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/support/error.hpp"

#include "bundle_reader.hpp"
#include "ccob.hpp"
#include "descriptor.hpp"

namespace dcuop::elf {

namespace {

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view triple = "amdgcn-amd-amdhsa-";
constexpr std::uint64_t code_object_limit = std::uint64_t{1} << 30;
constexpr std::uint64_t rdc_header_limit = 64;

std::string first_bytes(const std::filesystem::path& path, const Identity& identity) {
  return read_range(path, 0, std::min<std::uint64_t>(identity.file_size, bundle_magic.size()));
}

/// What follows the triple in amdhsa.target: "amdgcn-amd-amdhsa--gfx906:xnack-", the environment empty.
std::string target_in(const std::string& metadata_target) {
  if (!metadata_target.starts_with(triple)) {
    return {};
  }
  const std::size_t dash = metadata_target.find('-', triple.size());
  return dash == std::string::npos ? std::string{} : metadata_target.substr(dash + 1);
}

Bundle bare_code_object(const std::filesystem::path& path, const Identity& identity) {
  Bundle bundle;
  bundle.size = identity.file_size;
  bundle.packing = Packing::bare;
  CodeObject object;
  object.size = identity.file_size;
  read_code_object(read_range(path, 0, identity.file_size, code_object_limit), object);
  object.target = target_in(object.metadata_target);
  if (object.target.empty()) {
    object.target = target_of_flags(object.elf_flags, object.code_object_version);
  }
  bundle.code_objects.push_back(std::move(object));
  return bundle;
}

/// What -fgpu-rdc leaves for the link: the device side of each target in a section of its own.
std::optional<Bundle> rdc_sections(const Image& image) {
  Bundle bundle;
  bundle.packing = Packing::rdc_sections;
  for (const Section& section : image.sections) {
    if (!section.name.starts_with(bundle_magic) ||
        section.name.starts_with(std::string(bundle_magic) + "host-")) {
      continue;
    }
    CodeObject object;
    object.entry_id = section.name.substr(bundle_magic.size());
    const std::size_t at = object.entry_id.find("-gfx");
    object.target = at == std::string::npos ? "" : object.entry_id.substr(at + 1);
    object.offset = section.offset;
    object.size = section.size;
    const std::string head = read_range(image.path, section.offset, section.size, rdc_header_limit);
    read_code_object(head, object);
    bundle.size += section.size;
    bundle.code_objects.push_back(std::move(object));
  }
  return bundle.code_objects.empty() ? std::nullopt : std::optional(std::move(bundle));
}

DeviceFile read_bundle_file(const std::filesystem::path& path, const Identity& identity) {
  DeviceFile file;
  file.path = path;
  file.form = DeviceFile::Form::bundle;
  const Descriptor descriptor(path);
  const ByteSource source(identity.file_size, [&descriptor](std::uint64_t offset, std::uint64_t length) {
    return descriptor.read(offset, length);
  });
  file.code.bundles = read_bundles(source, Between::padding, 0);
  return file;
}

} // namespace

DeviceFile read_device_file(const std::filesystem::path& path) {
  const Identity identity = identify(path);
  if (identity.kind == FileKind::archive) {
    throw Error(ExitCode::usage, path.string() + ": is a static library (an ar archive), not one object",
                "take its members out (ar x) and give one of them");
  }
  if (identity.kind == FileKind::not_elf || identity.kind == FileKind::too_short) {
    const std::string head = first_bytes(path, identity);
    if (head == bundle_magic || head.starts_with(ccob_magic)) {
      return read_bundle_file(path, identity);
    }
    throw Error(ExitCode::usage, path.string() + ": is neither an ELF file nor an offload bundle",
                "give a .so, a program, a .o, a code object (.hsaco, .co) or an offload bundle (.hipfb)");
  }
  DeviceFile file;
  file.path = path;
  if (identity.kind == FileKind::elf && identity.elf_class == 64 && identity.machine == EM_AMDGPU) {
    file.form = DeviceFile::Form::code_object;
    file.code.bundles.push_back(bare_code_object(path, identity));
    return file;
  }
  const Image image = read_image(path);
  file.form = identity.type == ET_REL ? DeviceFile::Form::relocatable : DeviceFile::Form::shared_object;
  // Of an object for the linker everything is found by its section headers, which stand last.
  file.truncated =
      image.truncated() || (file.form == DeviceFile::Form::relocatable && image.section_headers_cut);
  file.has_offloading_section = image.section(".llvm.offloading") != nullptr;
  file.code = read_device_code(image);
  if (auto bundle = rdc_sections(image)) {
    file.code.bundles.push_back(std::move(*bundle));
  }
  return file;
}

} // namespace dcuop::elf

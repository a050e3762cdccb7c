#include <algorithm>
#include <cstring>
#include <set>

#include <elf.h>

#include "dcuop/elf/bundle.hpp"

#include "bundle_reader.hpp"
#include "byte_source.hpp"
#include "descriptor.hpp"

namespace dcuop::elf {

namespace {

constexpr std::uint32_t registration_magic = 0x48495046; // __hipFatBinaryWrapper: "HIPF"
constexpr std::uint64_t registration_size = 24;
constexpr std::uint64_t registrations_limit = registration_size << 20;
constexpr std::uint64_t page = 4096;

/// A range of the file, as far as it lies inside.
ByteSource range_of(const Descriptor& file, std::uint64_t file_size, std::uint64_t offset,
                    std::uint64_t length) {
  const std::uint64_t inside = offset < file_size ? std::min(length, file_size - offset) : 0;
  return {inside,
          [&file, offset](std::uint64_t at, std::uint64_t wanted) { return file.read(offset + at, wanted); }};
}

void read_section(const Image& image, const Descriptor& file, const Section& section, DeviceCode& code) {
  const ByteSource source = range_of(file, image.identity.file_size, section.offset, section.size);
  code.bundles = read_bundles(source, Between::padding, section.offset);
  if (source.size() < section.size && (code.bundles.empty() || code.bundles.back().problem.empty())) {
    Bundle rest;
    rest.offset = section.offset + source.size();
    rest.packing = Packing::unknown;
    rest.problem = "cut off: .hip_fatbin goes on past the end of the file";
    code.bundles.push_back(std::move(rest));
  }
}

/// Without section headers: HIP aligns each bundle to a page of the read-only data.
void scan_segments(const Image& image, const Descriptor& file, DeviceCode& code) {
  for (const Segment& segment : image.segments) {
    if (segment.type != PT_LOAD || (segment.flags & PF_W) != 0) {
      continue;
    }
    const std::uint64_t skipped = segment.offset % page == 0 ? 0 : page - segment.offset % page;
    if (skipped >= segment.file_size) {
      continue;
    }
    const std::uint64_t start = segment.offset + skipped;
    const ByteSource source = range_of(file, image.identity.file_size, start, segment.file_size - skipped);
    for (Bundle& bundle : read_bundles(source, Between::anything, start)) {
      code.found_by_scan = true;
      code.bundles.push_back(std::move(bundle));
    }
  }
}

std::uint64_t count_registrations(const Image& image) {
  const Section* const section = image.section(".hipFatBinSegment");
  if (section == nullptr) {
    return 0;
  }
  const std::string records = read_range(image.path, section->offset, section->size, registrations_limit);
  std::uint64_t count = 0;
  for (std::size_t at = 0; at + registration_size <= records.size(); at += registration_size) {
    std::uint32_t magic = 0;
    std::memcpy(&magic, records.data() + at, sizeof(magic));
    count += magic == registration_magic ? 1 : 0;
  }
  return count;
}

bool wants_hip_link(const Image& image) {
  return std::any_of(image.symbols.begin(), image.symbols.end(), [](const Symbol& symbol) {
    return !symbol.defined &&
           (symbol.name.starts_with("__hip_fatbin") || symbol.name.starts_with("__hip_gpubin_handle"));
  });
}

} // namespace

DeviceCode read_device_code(const Image& image) {
  DeviceCode code;
  code.has_cuda_fatbin = image.section(".nv_fatbin") != nullptr || image.section("__nv_fatbin") != nullptr;
  code.has_rdc_leftover = wants_hip_link(image);
  code.registered = count_registrations(image);
  const Descriptor file(image.path);
  if (const Section* const section = image.section(".hip_fatbin"); section != nullptr) {
    code.has_fatbin_section = true;
    read_section(image, file, *section, code);
  } else if (image.sections.empty()) {
    scan_segments(image, file, code);
  }
  return code;
}

std::vector<std::string> DeviceCode::targets() const {
  std::set<std::string> targets;
  for (const Bundle& bundle : bundles) {
    for (const CodeObject& object : bundle.code_objects) {
      if (!object.target.empty()) {
        targets.insert(object.target);
      }
    }
  }
  return {targets.begin(), targets.end()};
}

} // namespace dcuop::elf

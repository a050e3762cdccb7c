#include "kernel_descriptor.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "dcuop/support/error.hpp"

#include "dynamic.hpp"
#include "symbols.hpp"

namespace dcuop::elf {

namespace {

constexpr std::uint64_t descriptor_size = 64;
constexpr std::uint64_t resources_1_at = 48; // compute_pgm_rsrc1
constexpr std::uint32_t wgp_mode_bit = 29;

/// Addresses of the objects in .dynsym; empty when it is damaged.
std::map<std::string, std::uint64_t> descriptor_addresses(const ElfFile& file,
                                                          const std::vector<Segment>& segments) {
  Image image;
  image.segments = segments;
  try {
    read_symbols(file, read_dynamic(file, segments), image);
  } catch (const Error&) {
    return {};
  }
  std::map<std::string, std::uint64_t> addresses;
  for (Symbol& symbol : image.symbols) {
    if (symbol.defined && symbol.size == descriptor_size && symbol.name.ends_with(".kd")) {
      addresses.emplace(std::move(symbol.name), symbol.value);
    }
  }
  return addresses;
}

} // namespace

void read_workgroup_modes(const ElfFile& file, const std::vector<Segment>& segments,
                          std::vector<KernelInfo>& kernels) {
  if (std::all_of(kernels.begin(), kernels.end(),
                  [](const KernelInfo& kernel) { return kernel.wgp_mode.has_value(); })) {
    return;
  }
  const auto addresses = descriptor_addresses(file, segments);
  for (KernelInfo& kernel : kernels) {
    const auto found = addresses.find(kernel.symbol);
    if (kernel.wgp_mode || found == addresses.end()) {
      continue;
    }
    const auto at = file_offset(segments, found->second);
    const auto words = at ? file.table<std::uint32_t>(*at, descriptor_size / sizeof(std::uint32_t))
                          : std::vector<std::uint32_t>{};
    if (words.size() * sizeof(std::uint32_t) == descriptor_size) {
      kernel.wgp_mode = (words[resources_1_at / sizeof(std::uint32_t)] >> wgp_mode_bit & 1U) != 0;
    }
  }
}

} // namespace dcuop::elf

#include <algorithm>
#include <array>
#include <string_view>

#include "dcuop/elf/bundle.hpp"

namespace dcuop::elf {

namespace {

struct Mach {
  std::uint8_t number;
  std::string_view processor;
};

// EF_AMDGPU_MACH (https://llvm.org/docs/AMDGPUUsage.html#header, llvm/include/llvm/BinaryFormat/ELF.h). The
// numbers of Hygon's processors are not public: none may be read as that of a neighbour.
constexpr std::array<Mach, 49> machs = {{
    {0x28, "gfx801"},        {0x29, "gfx802"},          {0x2a, "gfx803"},          {0x2b, "gfx810"},
    {0x2c, "gfx900"},        {0x2d, "gfx902"},          {0x2e, "gfx904"},          {0x2f, "gfx906"},
    {0x30, "gfx908"},        {0x31, "gfx909"},          {0x32, "gfx90c"},          {0x33, "gfx1010"},
    {0x34, "gfx1011"},       {0x35, "gfx1012"},         {0x36, "gfx1030"},         {0x37, "gfx1031"},
    {0x38, "gfx1032"},       {0x39, "gfx1033"},         {0x3c, "gfx805"},          {0x3d, "gfx1035"},
    {0x3e, "gfx1034"},       {0x3f, "gfx90a"},          {0x40, "gfx940"},          {0x41, "gfx1100"},
    {0x42, "gfx1013"},       {0x43, "gfx1150"},         {0x44, "gfx1103"},         {0x45, "gfx1036"},
    {0x46, "gfx1101"},       {0x47, "gfx1102"},         {0x48, "gfx1200"},         {0x49, "gfx1250"},
    {0x4a, "gfx1151"},       {0x4b, "gfx941"},          {0x4c, "gfx942"},          {0x4e, "gfx1201"},
    {0x4f, "gfx950"},        {0x51, "gfx9-generic"},    {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"},
    {0x54, "gfx11-generic"}, {0x55, "gfx1152"},         {0x58, "gfx1153"},         {0x59, "gfx12-generic"},
    {0x5a, "gfx1251"},       {0x5b, "gfx12-5-generic"}, {0x5f, "gfx9-4-generic"},  {0x62, "gfx11-7-generic"},
    {0x57, "gfx1154"},
}};

const Mach* find_mach(std::uint32_t elf_flags) {
  const std::uint32_t number = elf_flags & 0xffU;
  const auto* const found =
      std::find_if(machs.begin(), machs.end(), [&](const Mach& mach) { return mach.number == number; });
  return found == machs.end() ? nullptr : found;
}

/// The V4 and later two-bit settings; unsupported and any leave the feature open.
std::optional<bool> setting(std::uint32_t bits) {
  constexpr std::uint32_t off = 2;
  constexpr std::uint32_t on = 3;
  return bits == on ? std::optional(true) : bits == off ? std::optional(false) : std::nullopt;
}

} // namespace

std::string target_of_flags(std::uint32_t elf_flags, int code_object_version) {
  const Mach* const found = find_mach(elf_flags);
  if (found == nullptr || code_object_version < 3) { // V2 says it in a note
    return {};
  }
  TargetId id{.processor = std::string(found->processor), .sramecc = {}, .xnack = {}};
  if (code_object_version == 3) {
    // A clear bit is off, or a feature that the processor lacks: only what is on is said.
    id.xnack = (elf_flags & 0x100U) != 0 ? std::optional(true) : std::nullopt;
    id.sramecc = (elf_flags & 0x200U) != 0 ? std::optional(true) : std::nullopt;
  } else {
    id.xnack = setting(elf_flags >> 8U & 3U);
    id.sramecc = setting(elf_flags >> 10U & 3U);
  }
  return id.text();
}

std::string mach_text(std::uint32_t elf_flags) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (const Mach* const found = find_mach(elf_flags); found != nullptr) {
    return std::string(found->processor);
  }
  return std::string("unknown mach 0x") + digits[elf_flags >> 4U & 15U] + digits[elf_flags & 15U];
}

} // namespace dcuop::elf

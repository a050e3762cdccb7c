#pragma once
// An ELF file as a value: what the loader would read of it. Files come from anywhere: every size and offset
// is checked against the file's length, and the file is read, never mapped (a truncated mapping is a SIGBUS).
// Format: System V gABI; symbol versions: LSB 5.0 core, chapter 10.7.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop::elf {

/// What a file is, before anything else is read of it.
enum class FileKind { elf, missing, unreadable, directory, empty, too_short, lfs_pointer, archive, not_elf };

struct Identity {
  FileKind kind = FileKind::missing;
  int elf_class = 0; ///< 32 or 64
  bool little_endian = true;
  std::uint16_t machine = 0; ///< e_machine (62 = x86-64, 183 = AArch64, 224 = AMDGPU)
  std::uint16_t type = 0;    ///< e_type (3 = ET_DYN)
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint32_t flags = 0; ///< e_flags
  std::uint64_t file_size = 0;
};

/// Never throws.
[[nodiscard]] Identity identify(const std::filesystem::path& path);

struct Segment {
  std::uint32_t type = 0;  ///< p_type
  std::uint32_t flags = 0; ///< p_flags
  std::uint64_t offset = 0, file_size = 0, address = 0, memory_size = 0, alignment = 0;
};

struct Section {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0, address = 0, offset = 0, size = 0;
};

struct Symbol {
  std::string name;
  std::string version;      ///< "" when unversioned; the required version of an undefined one
  std::string version_file; ///< of an undefined versioned symbol: the SONAME that must provide it
  bool defined = false;     ///< ld.so would bind to it (not undefined, not hidden)
  bool weak = false;
  bool global = true;
  bool default_version = true;     ///< defined: foo@@V (true) or foo@V
  std::uint8_t type = 0;           ///< STT_*
  std::uint16_t version_index = 0; ///< of .gnu.version, without the hidden bit; 0 and 1: unversioned
  std::uint64_t value = 0, size = 0;
};

struct VersionNeed {
  std::string file;                  ///< SONAME
  std::vector<std::string> versions; ///< nodes wanted of it, weak wants (VER_FLG_WEAK) left out
};

/// Forms of relocations that came after the gABI. What ld.so does not know of them it skips in silence.
enum class Packed {
  relr,         ///< DT_RELR, of the gABI since 2022: glibc 2.36 and newer
  android_relr, ///< DT_ANDROID_RELR, the same under its first number
  android_rela, ///< DT_ANDROID_RELA or DT_ANDROID_REL ("APS2")
};
[[nodiscard]] std::string_view name_of(Packed form); ///< "DT_RELR"

struct Image {
  std::filesystem::path path;
  Identity identity;
  std::vector<Segment> segments;
  std::vector<Section> sections;   ///< empty when stripped of section headers
  std::vector<std::string> needed; ///< DT_NEEDED, in order
  std::string soname;
  std::string rpath, runpath;           ///< as written; empty when absent
  std::uint64_t flags = 0, flags_1 = 0; ///< DT_FLAGS, DT_FLAGS_1
  std::vector<Packed> packed_relocations;
  std::vector<Symbol> symbols; ///< .dynsym, without the null symbol
  std::vector<VersionNeed> version_needs;
  std::vector<std::string> version_definitions; ///< nodes, without the base; empty: none
  bool has_version_section = false;             ///< DT_VERSYM
  std::string build_id;                         ///< lower-case hex of NT_GNU_BUILD_ID, "" when absent
  /// Bytes that the segments need; larger than identity.file_size: the file is truncated.
  std::uint64_t bytes_needed = 0;
  bool section_headers_cut = false; ///< segments whole, section headers past the end

  [[nodiscard]] bool truncated() const { return bytes_needed > identity.file_size; }
  [[nodiscard]] const Section* section(std::string_view name) const;
};

/// Reads the dynamic part of an ELF64 little-endian file. Throws Error(usage) naming the file and what is
/// wrong when identify() would not say FileKind::elf, the class or byte order is another, or headers are cut.
/// A truncated file is read as far as it goes: ask truncated().
[[nodiscard]] Image read_image(const std::filesystem::path& path);

/// Content of a section or of a file range; empty when it does not lie inside the file. At most `limit`
/// bytes.
[[nodiscard]] std::string read_range(const std::filesystem::path& path, std::uint64_t offset,
                                     std::uint64_t size, std::uint64_t limit = std::uint64_t{1} << 32);

/// __cxa_demangle; the name itself when it is not a mangled one.
[[nodiscard]] std::string demangled(const std::string& name);

[[nodiscard]] std::string machine_name(std::uint16_t machine);

} // namespace dcuop::elf

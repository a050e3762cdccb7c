#pragma once
// An open ELF64 little-endian file, or one in memory: headers, and ranges copied out of it. libelf in its
// reading mode (never its mapping one) checks every range against the length.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/elf/image.hpp"

namespace dcuop::elf {

/// The fields of the ELF header that nothing else says.
struct Header {
  std::uint16_t type = 0, machine = 0;
  std::uint8_t os_abi = 0, abi_version = 0;
  std::uint32_t flags = 0;
  std::uint64_t program_headers_end = 0;
  std::uint64_t section_headers_end = 0; ///< 0 when there is no section header table
};

class ElfFile {
 public:
  /// Throws Error(usage) when it cannot be opened or is no ELF64 little-endian file.
  [[nodiscard]] static ElfFile open(const std::filesystem::path& path);
  /// nullopt when they are no ELF64 little-endian file. `bytes` must outlive the result.
  [[nodiscard]] static std::optional<ElfFile> in_memory(std::string_view bytes);

  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// nullopt when the program header table is cut or damaged.
  [[nodiscard]] std::optional<std::vector<Segment>> segments() const;
  /// Empty when the file has none, or they are cut.
  [[nodiscard]] std::vector<Section> sections() const;

  /// What of the range lies inside the file, at most `limit` bytes.
  [[nodiscard]] std::string bytes(std::uint64_t offset, std::uint64_t length, std::uint64_t limit) const;

  /// The whole T's of the range that lie inside the file.
  template <typename T> [[nodiscard]] std::vector<T> table(std::uint64_t offset, std::uint64_t count) const {
    const std::uint64_t available = offset < size_ ? (size_ - offset) / sizeof(T) : 0;
    const std::uint64_t whole = std::min(count, available);
    const std::string content = bytes(offset, whole * sizeof(T), whole * sizeof(T));
    std::vector<T> entries(content.size() / sizeof(T));
    if (!entries.empty()) {
      std::memcpy(entries.data(), content.data(), entries.size() * sizeof(T));
    }
    return entries;
  }

  /// The content of the first note of that owner and type.
  [[nodiscard]] std::optional<std::string> note(const std::vector<Segment>& segments, std::string_view owner,
                                                std::uint32_t type) const;

 private:
  struct Handle;
  explicit ElfFile(std::shared_ptr<Handle> handle, std::uint64_t size);

  std::shared_ptr<Handle> handle_;
  std::uint64_t size_ = 0;
  Header header_;
};

/// The offset in the file of what is at `address` when it is loaded; nullopt when no segment holds it.
[[nodiscard]] std::optional<std::uint64_t> file_offset(const std::vector<Segment>& segments,
                                                       std::uint64_t address);

} // namespace dcuop::elf

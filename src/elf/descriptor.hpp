#pragma once
// A file opened for reading by ranges.

#include <cstdint>
#include <filesystem>
#include <string>

namespace dcuop::elf {

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path);
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const { return fd_; }      ///< negative: it could not be opened
  [[nodiscard]] int error() const { return error_; } ///< errno of that
  /// Shorter than `length` when the file ends before.
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t length) const;

 private:
  int fd_;
  int error_;
};

} // namespace dcuop::elf

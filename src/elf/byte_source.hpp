#pragma once
// Bytes that are read by ranges: a block in memory, or a part of a file too large to read whole.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace dcuop::elf {

class ByteSource {
 public:
  using Reader = std::function<std::string(std::uint64_t offset, std::uint64_t length)>;

  ByteSource(std::uint64_t size, Reader reader) : size_(size), reader_(std::move(reader)) {}
  /// `bytes` must outlive the source.
  explicit ByteSource(std::string_view bytes)
      : ByteSource(bytes.size(), [bytes](std::uint64_t offset, std::uint64_t length) {
          return std::string(bytes.substr(offset, length));
        }) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t left(std::uint64_t offset) const { return offset < size_ ? size_ - offset : 0; }

  /// What of the range is there.
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t length) const {
    const std::uint64_t there = std::min(length, left(offset));
    return there == 0 ? std::string{} : reader_(offset, there);
  }

 private:
  std::uint64_t size_;
  Reader reader_;
};

} // namespace dcuop::elf

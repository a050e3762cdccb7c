#pragma once
// What the fuzz targets share: the input as text and as a file, and a check that holds in every build.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace dcuop::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the run, so that the fuzzer keeps the input.
inline void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "required: %s\n", what);
    std::abort();
  }
}

/// A file in memory, written anew for each input, for the readers that open a path.
class InputFile {
 public:
  InputFile() : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "memfd_create(2)");
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  ~InputFile() { ::close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  void write(std::string_view bytes) const {
    require(::ftruncate(descriptor_, 0) == 0, "ftruncate(2)");
    require(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
            "pwrite(2)");
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  int descriptor_;
  std::filesystem::path path_;
};

} // namespace dcuop::fuzz

#pragma once
// Shared objects that the machine's own compiler and linker make for a test.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <elf.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary_directory.hpp"

namespace dcuop::elf::test {

namespace fs = std::filesystem;
using dcuop::test::TemporaryDirectory;

inline std::string quoted(const fs::path& path) {
  return "'" + path.string() + "'";
}

inline void shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("failed: " + command);
  }
}

/// Compiles C code to `directory`/`name`; `options` go to the linker line as they are.
inline fs::path shared_object(const TemporaryDirectory& directory, const std::string& name,
                              const std::string& code, const std::string& options = "") {
  const fs::path source = directory.write(name + ".c", code);
  const fs::path output = directory / name;
  shell("cc -shared -fPIC -O1 -o " + quoted(output) + " " + quoted(source) + " " + options);
  return output;
}

inline std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <typename T> void patch(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

/// As `strip --strip-section-headers` of newer binutils leaves a file.
inline std::string without_section_headers(std::string bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes.resize(header.e_shoff); // they stand last
  patch(bytes, offsetof(Elf64_Ehdr, e_shoff), std::uint64_t{0});
  patch(bytes, offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{0});
  patch(bytes, offsetof(Elf64_Ehdr, e_shstrndx), std::uint16_t{0});
  return bytes;
}

/// What ld.so itself says; in a child, since it may die of an assertion.
inline bool loads(const fs::path& path) {
  const pid_t child = fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stderr);
    _exit(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace dcuop::elf::test

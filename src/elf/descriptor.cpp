#include "descriptor.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace dcuop::elf {

// O_NONBLOCK: a FIFO in a search directory must not block the reader.
Descriptor::Descriptor(const std::filesystem::path& path)
    : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), error_(fd_ < 0 ? errno : 0) {}

Descriptor::~Descriptor() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

std::string Descriptor::read(std::uint64_t offset, std::uint64_t length) const {
  std::string content(length, '\0');
  std::size_t have = 0;
  while (have < content.size()) {
    const ssize_t got =
        pread(fd_, content.data() + have, content.size() - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    have += static_cast<std::size_t>(got);
  }
  content.resize(have);
  return content;
}

} // namespace dcuop::elf

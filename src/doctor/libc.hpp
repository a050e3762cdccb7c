#pragma once
// Which glibc the process has: this program may be linked with another, or be judging another machine.

#include "dcuop/elf/image.hpp"

namespace dcuop::doctor {

/// The minor of its newest GLIBC_2.<minor> node: 36 of glibc 2.36. -1 when it has none, as musl.
[[nodiscard]] int glibc_minor(const elf::Image& libc);

} // namespace dcuop::doctor

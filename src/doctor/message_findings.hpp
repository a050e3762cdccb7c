#pragma once
// From a clue to a finding, with what this machine can add.

#include "case_file.hpp"

#include "dcuop/doctor/message.hpp"

namespace dcuop::doctor {

/// Whether the clue's file is a library to be loaded, rather than a source or a data file.
[[nodiscard]] bool is_about_a_library(const Clue& clue);

/// From the text and this machine's torch and libraries; the clue's file is not looked at.
[[nodiscard]] finding::Finding finding_of(const Clue& clue, CaseFile& machine);

/// Whether what the clue says is so of the library `file`, which was diagnosed; nullopt: not to be compared, as of
/// a launch where no device is.
[[nodiscard]] std::optional<bool> holds(const Clue& clue, const Report& diagnosis,
                                        const std::filesystem::path& file);

} // namespace dcuop::doctor

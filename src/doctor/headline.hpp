#pragma once

#include <string>

#include "case_file.hpp"

namespace dcuop::doctor {

/// The verdict and the root cause (the first finding) in one sentence.
[[nodiscard]] std::string headline_of(const CaseFile& file, const Report& report,
                                      finding::LanguageOfText language);

} // namespace dcuop::doctor

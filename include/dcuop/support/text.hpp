#pragma once
// Text for people: nearest names, sizes, durations, shortened paths.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/support/environment.hpp"

namespace dcuop {

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator); ///< empty parts dropped
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// The candidate with the smallest Damerau-Levenshtein distance, if that is small enough to be a typo
/// (at most a third of the longer name, at least 1).
[[nodiscard]] std::optional<std::string> nearest(std::string_view wanted,
                                                 const std::vector<std::string>& candidates);

[[nodiscard]] std::string human_size(std::uint64_t bytes);             ///< "173 KiB", "1.2 MiB"
[[nodiscard]] std::string human_duration(std::chrono::milliseconds d); ///< "0.005s", "3.2s", "2m 05s"
[[nodiscard]] std::string human_age(std::chrono::seconds age); ///< "just now", "2 h ago", "3 days ago"
/// "1 file", "2 files"; "2 entries", "2 misses", "2 archs".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view singular);

/// At most `width` columns of one terminal line, with "…" at the end when something was cut. Never cuts
/// inside a UTF-8 character; East Asian wide characters count two, colour sequences nothing; control
/// characters become spaces.
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);

/// "~/x" for what lies in the home directory; for people only, never for JSON.
[[nodiscard]] std::string shortened(const std::filesystem::path& path, const Environment& environment);

/// "2d", "12h", "30m", "45s" -> seconds; "10G", "512M", "100K", "5GiB" -> bytes (powers of 1024). nullopt
/// when it is neither; a bare number is none, as nobody could say of what.
[[nodiscard]] std::optional<std::chrono::seconds> parse_duration(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// The string shell-like words of a variable such as HIPCC_COMPILE_FLAGS_APPEND hold (quotes and backslashes
/// as a POSIX shell reads them, no expansion).
[[nodiscard]] std::vector<std::string> shell_words(std::string_view text);

} // namespace dcuop

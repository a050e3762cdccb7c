#pragma once
// /etc/passwd and /etc/group as they are written. glibc's own look-ups load name services (nsswitch.conf), which a
// static program cannot, and know no other root directory.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop {

struct Account {
  std::string name;
  std::uint32_t id = 0;
  std::vector<std::string> members; ///< of a group
};

/// Empty when the file cannot be read; a line without a number in its third field is passed over.
[[nodiscard]] std::vector<Account> accounts_in(const std::filesystem::path& file);

[[nodiscard]] const Account* account_with_id(const std::vector<Account>& accounts, std::uint32_t id);
[[nodiscard]] std::optional<std::uint32_t> account_id(const std::vector<Account>& accounts,
                                                      std::string_view name);
/// The number where no account has it.
[[nodiscard]] std::string account_name(const std::vector<Account>& accounts, std::uint32_t id);

} // namespace dcuop

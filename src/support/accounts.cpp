#include "dcuop/support/accounts.hpp"

#include <algorithm>
#include <charconv>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop {

namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t start = 0;
  for (std::size_t end = line.find(':'); end != std::string::npos; end = line.find(':', start)) {
    fields.push_back(line.substr(start, end - start));
    start = end + 1;
  }
  fields.push_back(line.substr(start));
  return fields;
}

} // namespace

std::vector<Account> accounts_in(const std::filesystem::path& file) {
  std::vector<Account> accounts;
  for (const std::string& line : split(read_file(file).value_or(""), '\n')) {
    const std::vector<std::string> fields = fields_of(line);
    Account account;
    if (fields.size() < 3 ||
        std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), account.id).ec !=
            std::errc{}) {
      continue;
    }
    account.name = fields[0];
    account.members = fields.size() > 3 ? split(fields[3], ',') : std::vector<std::string>{};
    accounts.push_back(std::move(account));
  }
  return accounts;
}

const Account* account_with_id(const std::vector<Account>& accounts, std::uint32_t id) {
  const auto found = std::find_if(accounts.begin(), accounts.end(),
                                  [id](const Account& account) { return account.id == id; });
  return found == accounts.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> account_id(const std::vector<Account>& accounts, std::string_view name) {
  const auto found = std::find_if(accounts.begin(), accounts.end(),
                                  [name](const Account& account) { return account.name == name; });
  return found == accounts.end() ? std::nullopt : std::optional(found->id);
}

std::string account_name(const std::vector<Account>& accounts, std::uint32_t id) {
  const Account* account = account_with_id(accounts, id);
  return account == nullptr ? std::to_string(id) : account->name;
}

} // namespace dcuop

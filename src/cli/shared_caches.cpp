#include "shared_caches.hpp"

#include <charconv>

#include "dcuop/support/accounts.hpp"

namespace dcuop::cli {

namespace {

/// A user id, or a name in /etc/passwd.
std::uint32_t user_id_of(const std::string& owner) {
  std::uint32_t id = 0;
  const char* const end = owner.data() + owner.size();
  if (std::from_chars(owner.data(), end, id).ptr == end) {
    return id;
  }
  if (const auto known = account_id(accounts_in("/etc/passwd"), owner)) {
    return *known;
  }
  throw Error(ExitCode::usage, "trusted_owners: no user is called '" + owner + "' in /etc/passwd",
              "give the user id instead");
}

} // namespace

std::vector<store::Store> open_shared_caches(Context& context) {
  std::vector<std::uint32_t> trusted;
  for (const std::string& owner : context.config.list("trusted_owners")) {
    trusted.push_back(user_id_of(owner));
  }
  std::vector<store::Store> caches;
  for (const std::string& root : context.config.list("system_caches")) {
    try {
      caches.push_back(store::Store::open_shared(root, trusted, context.store().memo_directory()));
    } catch (const Error& fault) {
      context.terminal.remark("system cache left out: " + std::string(fault.what()));
    }
  }
  return caches;
}

} // namespace dcuop::cli

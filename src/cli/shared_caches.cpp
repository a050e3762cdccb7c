#include "shared_caches.hpp"

#include <charconv>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

/// A user id, or a name in /etc/passwd. Not getpwnam: a static program cannot load the C library's name services.
std::uint32_t user_id_of(const std::string& owner) {
  std::uint32_t id = 0;
  const char* const end = owner.data() + owner.size();
  if (std::from_chars(owner.data(), end, id).ptr == end) {
    return id;
  }
  for (const std::string& line : split(read_file("/etc/passwd").value_or(""), '\n')) {
    if (!line.starts_with(owner + ":")) {
      continue;
    }
    const std::size_t field = line.find(':', owner.size() + 1) + 1;
    const char* const text = line.data() + field;
    if (field != 0 && std::from_chars(text, line.data() + line.size(), id).ptr != text) {
      return id;
    }
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

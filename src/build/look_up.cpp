#include "look_up.hpp"

#include "dcuop/build/find_entry.hpp"
#include "dcuop/support/log.hpp"

namespace dcuop::build {

std::optional<store::Entry> look_up_hit(const store::Store& store, const key::Request& request,
                                        DigestMemo& memo, LookUp& found) {
  SeenHit seen(store, request.digest, request.base);
  if (std::optional<store::Entry> entry = seen.find()) {
    return entry;
  }
  found = look_up(store, store::Shelf::entries, request.digest, request.base, memo, &seen);
  return found.entry;
}

LookUp look_up(const store::Store& store, store::Shelf shelf, const Digest& request,
               const key::PathBase& base, DigestMemo& memo, SeenHit* seen) {
  LookUp result;
  bool newest = true;
  (void)store.find_record(request, [&](const store::IndexRecord& record) {
    const std::optional<key::InputSet> inputs = key::input_set_from_json_text(record.input_set_json);
    if (!inputs) {
      return false;
    }
    if (seen != nullptr && newest) {
      seen->look_at(*inputs);
    }
    // The newest record's differences are the ones worth telling; for the others the first one decides.
    const key::Comparison comparison = key::compare(*inputs, base, memo, !newest);
    if (comparison.unchanged()) {
      if (std::optional<store::Entry> entry = store.find(shelf, record.key)) {
        if (seen != nullptr && newest) {
          seen->remember(*inputs, comparison, record.key);
        }
        result = {std::move(entry), *inputs, false, {}};
        return true;
      }
    } else if (comparison.only_compiler_can_tell()) {
      result.must_ask_compiler = true;
    }
    if (newest) {
      result.differences = key::describe(comparison, *inputs, base);
      newest = false;
    }
    return false;
  });
  return result;
}

void try_add_record(store::Store& store, const Digest& request, const Digest& input_set,
                    const store::IndexRecord& record) noexcept {
  try {
    store.add_record(request, input_set, record);
  } catch (const std::exception& fault) {
    log_warning(fault.what());
  }
}

Digest key_of(const Digest& request, const key::InputSet& inputs) {
  Hasher hasher;
  hasher.digest("request", request);
  hasher.digest("inputs", inputs.digest());
  return hasher.finish();
}

std::filesystem::path input_memo_file(const key::Request& request, const store::Store& store) {
  return store.memo_directory() / ("inputs-" + digest_of(request.op.directory.string()).hex());
}

std::optional<store::Entry> find_entry(const key::Request& request, const store::Store& store) {
  DigestMemo memo(input_memo_file(request, store));
  LookUp found;
  return look_up_hit(store, request, memo, found);
}

} // namespace dcuop::build

#include "staleness.hpp"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "dcuop/build/find_entry.hpp"
#include "dcuop/key/explain.hpp"
#include "dcuop/key/request.hpp"
#include "dcuop/op/described.hpp"
#include "dcuop/op/manifest.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

/// What is at an origin now.
struct Staleness::Place {
  bool is_empty = false;    ///< neither manifest nor description
  bool has_backend = true;  ///< false: its manifest has no table of the backend that is asked about
  std::optional<op::Op> op; ///< nullopt also when that cannot be read
  key::PathBase base;       ///< of its inputs
  std::optional<DigestMemo> memo;
  /// By archs, joined; nullopt: this machine cannot say.
  std::map<std::string, std::optional<key::Request>> requests;
};

namespace {

using Kind = Standing::Kind;
using nlohmann::json;

/// What the builder noted.
struct Noted {
  std::vector<std::string> archs;
  std::string request, torch, python;
  op::Backend backend = op::Backend::hip;
};

Noted noted_in(const std::string& facts_json) {
  Noted noted;
  const json facts = json_or_discarded(facts_json);
  if (!facts.is_object()) {
    return noted;
  }
  const auto text = [&](const char* name) {
    const auto found = facts.find(name);
    return found != facts.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  noted.request = text("request");
  noted.torch = text("torch");
  noted.python = text("python");
  noted.backend = op::backend_named(text("backend")).value_or(op::Backend::hip);
  if (const auto archs = facts.find("arch"); archs != facts.end() && archs->is_array()) {
    for (const json& arch : *archs) {
      noted.archs.push_back(arch.is_string() ? arch.get<std::string>() : std::string());
    }
  }
  return noted;
}

bool is_there(const fs::path& path) {
  const std::optional<FileIdentity> identity = identity_of(path);
  return identity && identity->is_directory();
}

/// Its archs as a wish; a request without HIP sources has none.
std::optional<key::Request> request_of(Context& context, const op::Op& op,
                                       const std::vector<std::string>& archs) {
  try {
    const probe::Machine machine = context.machine();
    const key::Facts facts = key::gather_facts(machine, {op}, {context.python_wish(), archs, {}});
    return key::make_request(op, facts, machine);
  } catch (const Error& error) {
    log_debug(op.directory.string() + ": " + error.what());
    return std::nullopt;
  }
}

bool asks_for(const key::Request& request, const store::Candidate& candidate, const Noted& noted) {
  if (candidate.shelf == store::Shelf::entries) {
    return request.digest.hex() == noted.request;
  }
  return std::any_of(request.units.begin(), request.units.end(),
                     [&](const key::UnitRequest& unit) { return unit.request.hex() == noted.request; });
}

bool is_of_torch(const std::string& path) {
  const std::string file = fs::path(path).filename().string();
  return file.starts_with("libtorch") || file.starts_with("libc10") ||
         path.find("/torch/") != std::string::npos;
}

/// Why files that differ from what was read keep an entry from being hit; nullopt when none does.
std::optional<std::string> changed_input(const store::Entry& entry, const key::PathBase& base,
                                         DigestMemo& memo, bool is_other_torch) {
  const std::optional<key::InputSet> inputs =
      key::input_set_from_json_text(read_file(entry.directory / "inputs.json").value_or(""));
  if (!inputs) {
    return std::nullopt;
  }
  const key::Comparison comparison = key::compare(*inputs, base, memo, true);
  if (comparison.unchanged() || comparison.only_compiler_can_tell()) {
    return std::nullopt;
  }
  if (comparison.changed.empty()) {
    return key::summary(key::describe(comparison, *inputs, base)) + " since";
  }
  const std::string& path = comparison.changed.front().path;
  const bool is_gone = !identity_of(base.absolute(path));
  if (is_of_torch(path)) {
    return is_gone || is_other_torch ? "its torch is gone" : "its torch changed";
  }
  return path + (is_gone ? " is gone" : " changed since");
}

/// Why the origin asks for something else now.
std::string changed_component(const store::Entry& entry, const key::Request& request) {
  try {
    const json document = json_from(read_file(entry.directory / "components.json").value_or(""));
    const std::string summary =
        key::summary(key::compare_components(key::components_from_json(document), request.components));
    if (!summary.empty()) {
      return summary + (summary.ends_with(" changed") ? " since" : "");
    }
  } catch (const json::exception& fault) {
    log_debug(entry.directory.string() + ": " + fault.what());
  } catch (const Error& fault) {
    log_debug(entry.directory.string() + ": " + fault.what());
  }
  return "its source or flags changed since"; // objects keep no components
}

op::Op described_again(const std::string& description) {
  const auto no_files = [](const op::InlineFiles&) -> fs::path {
    throw Error(ExitCode::usage, "a recorded description has no files to place");
  };
  return op::read_described(json::array({shallow_json(description)}), no_files).front();
}

std::optional<std::string> unsupported_arch(const op::Op& op, const std::vector<std::string>& archs) {
  const auto found =
      std::find_if(archs.begin(), archs.end(), [&](const std::string& arch) { return !op.supports(arch); });
  return op.has_device_code() && found != archs.end() ? std::optional(*found) : std::nullopt;
}

} // namespace

std::string to_string(Kind kind) {
  switch (kind) {
  case Kind::current:
    return "current";
  case Kind::stale:
    return "stale";
  case Kind::elsewhere:
    return "other Python";
  case Kind::unknown:
    return "unknown";
  }
  return "unknown";
}

Staleness::Staleness(Context& context) : context_(context) {}
Staleness::~Staleness() = default;

Standing Staleness::standing_of(const store::Candidate& candidate) {
  Standing standing;
  bool is_first = true;
  for (const fs::path& origin : candidate.origins) {
    Standing here =
        is_there(origin) ? standing_at(origin, candidate) : Standing{Kind::stale, "its origin is gone"};
    if (here.kind != Kind::stale) {
      return here;
    }
    // What a directory that is still there says goes before those that are gone.
    if (is_first || standing.reason == "its origin is gone") {
      standing = std::move(here);
    }
    is_first = false;
  }
  return standing;
}

Standing Staleness::standing_at(const fs::path& origin, const store::Candidate& candidate) {
  const op::Backend noted = noted_in(candidate.entry.facts_json).backend;
  Standing standing = standing_for(noted, origin, candidate);
  if (standing.kind != Kind::stale || candidate.shelf == store::Shelf::entries) {
    return standing;
  }
  // Units without device code can be the same for several backends, and the object notes the first.
  const std::vector<op::Backend>& all = op::all_backends();
  const bool is_anothers = std::any_of(all.begin(), all.end(), [&](op::Backend backend) {
    return backend != noted && standing_for(backend, origin, candidate).kind == Kind::current;
  });
  return is_anothers ? Standing{Kind::current, ""} : standing;
}

Standing Staleness::standing_for(op::Backend backend, const fs::path& origin,
                                 const store::Candidate& candidate) {
  std::optional<Standing> stale;
  for (Place* const place : places_at(origin, candidate.entry.name, backend)) {
    Standing here = standing_in(*place, candidate);
    if (here.kind != Kind::stale) {
      return here;
    }
    stale = stale ? std::move(stale) : std::move(here);
  }
  return stale.value_or(Standing{});
}

Standing Staleness::standing_in(Place& place, const store::Candidate& candidate) {
  if (place.is_empty) {
    return {Kind::stale, "no op is at its origin any more"};
  }
  if (!place.has_backend) {
    return {Kind::stale, "the op there has no table of its backend any more"};
  }
  if (!place.op) {
    return {Kind::unknown, ""};
  }
  if (place.op->name != candidate.entry.name) {
    return {Kind::stale, "the op there is " + place.op->name + " now"};
  }
  const Noted noted = noted_in(candidate.entry.facts_json);
  if (const std::optional<std::string> arch = unsupported_arch(*place.op, noted.archs)) {
    return {Kind::stale, "the op there no longer supports " + *arch};
  }
  const auto [known, is_new] = place.requests.try_emplace(join(noted.archs, ","));
  if (is_new) {
    known->second = request_of(context_, *place.op, noted.archs);
  }
  const std::optional<key::Request>& request = known->second;
  const bool is_asked_for = request && asks_for(*request, candidate, noted);
  const Noted now = request ? noted_in(request->facts_json) : Noted{};
  const bool is_other_torch = now.torch != noted.torch;
  const bool is_other_python = is_other_torch || now.python != noted.python;
  if (request && !is_asked_for && !is_other_python) {
    return {Kind::stale, changed_component(candidate.entry, *request)};
  }
  if (std::optional<std::string> why =
          changed_input(candidate.entry, place.base, *place.memo, is_other_torch)) {
    return {Kind::stale, std::move(*why)};
  }
  return {is_asked_for ? Kind::current : request ? Kind::elsewhere : Kind::unknown, ""};
}

std::vector<Staleness::Place*> Staleness::places_at(const fs::path& origin, const std::string& name,
                                                    op::Backend backend) {
  std::vector<Place*> places;
  if (backend == op::Backend::hip) { // which is all that a description can say
    for (const std::string& description : context_.store().descriptions(name, origin)) {
      places.push_back(&place_of(description, [&] { return described_again(description); }));
    }
  }
  const fs::path manifest = origin / "dcuop.toml";
  std::error_code error;
  const bool has_manifest = fs::symlink_status(manifest, error).type() != fs::file_type::not_found;
  if (has_manifest) {
    const auto read = [&]() -> std::optional<op::Op> {
      const std::vector<op::Backend> backends = op::backends_of(manifest);
      const bool has_it = std::find(backends.begin(), backends.end(), backend) != backends.end();
      return has_it ? std::optional(op::read_op(manifest, backend)) : std::nullopt;
    };
    places.push_back(&place_of(origin.string() + "\n" + op::to_string(backend), read));
  } else if (places.empty()) {
    places.push_back(&place_of(origin.string(), {}));
  }
  return places;
}

Staleness::Place& Staleness::place_of(const std::string& key,
                                      const std::function<std::optional<op::Op>()>& read) {
  std::unique_ptr<Place>& place = places_[key];
  if (place) {
    return *place;
  }
  place = std::make_unique<Place>();
  place->is_empty = !read;
  if (place->is_empty) {
    return *place;
  }
  try {
    place->op = read();
    place->has_backend = place->op.has_value();
    if (!place->op) {
      return *place;
    }
    place->base = {place->op->directory, place->op->workspace_root,
                   context_.environment.get("PATH").value_or(""),
                   context_.environment.get("HOME").value_or("")};
    key::Request request;
    request.op = *place->op;
    place->memo.emplace(build::input_memo_file(request, context_.store()));
  } catch (const Error& fault) {
    log_debug(fault.what());
  }
  return *place;
}

store::StaleTest stale_test(Context& context) {
  const auto staleness = std::make_shared<Staleness>(context);
  return [staleness](const store::Candidate& candidate) -> std::optional<std::string> {
    const Standing standing = staleness->standing_of(candidate);
    return standing.kind == Kind::stale ? std::optional(standing.reason) : std::nullopt;
  };
}

} // namespace dcuop::cli

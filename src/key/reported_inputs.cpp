// Inputs from depfiles and search lists, where the compiler was not traced. Depfiles do not say what was looked for and
// not found, so every name that could matter is watched; what no report tells of is looked for in the texts.

#include <algorithm>
#include <set>

#include "dcuop/key/collect_inputs.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "input_list.hpp"
#include "relevant_names.hpp"

namespace dcuop::key {

namespace {

constexpr std::uint64_t largest_source = 8U << 20U; ///< bytes; what is larger is a library, not a text

/// What the texts of the inputs say beyond the files that were found.
struct Spellings {
  std::set<std::string> names; ///< components of what __has_include and "../" includes ask for
  std::set<fs::path> upward;   ///< directory parts of includes with "..": "../common"
};

void add_parts(std::string_view path, std::set<std::string>& names) {
  for (std::string& part : split(path, '/')) {
    names.insert(std::move(part));
  }
}

/// What stands between <> or "" at or behind `at` on its line; "" when there is nothing such.
std::string_view quoted_at(std::string_view text, std::size_t at) {
  const std::size_t open = text.find_first_of("<\"\n", at);
  if (open == std::string_view::npos || text[open] == '\n') {
    return {};
  }
  const std::size_t close = text.find_first_of(">\"\n", open + 1);
  return close == std::string_view::npos || text[close] == '\n' ? std::string_view{}
                                                                : text.substr(open + 1, close - open - 1);
}

/// __has_include(<a/b.h>): b.h may appear later. __has_include(MACRO) can mean any name.
void scan_has_include(std::string_view text, Spellings& spellings) {
  constexpr std::string_view marker = "__has_include";
  for (std::size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at + 1)) {
    std::size_t open = text.find_first_not_of("_next \t", at + marker.size());
    if (open == std::string_view::npos || text[open] != '(') {
      continue; // "#ifdef __has_include"
    }
    open = text.find_first_not_of(" \t", open + 1);
    const std::string_view asked = quoted_at(text, at);
    const bool is_definition = at >= 7 && text.substr(at - 7, 7) == "define ";
    if (!asked.empty()) {
      add_parts(asked, spellings.names);
    } else if (open != std::string_view::npos && !is_definition) {
      spellings.names.insert(any_name);
    }
  }
}

/// #include "../common/h.h": each search directory is joined with "../common".
void scan_upward_includes(std::string_view text, Spellings& spellings) {
  for (std::size_t at = text.find("../"); at != std::string_view::npos; at = text.find("../", at + 1)) {
    const std::size_t line = text.rfind('\n', at) + 1; // npos + 1 is 0
    const std::string_view start = trimmed(text.substr(line, at - line));
    if (!start.starts_with('#') || start.find("include") == std::string_view::npos) {
      continue;
    }
    const std::string_view spelled = quoted_at(text, line);
    add_parts(spelled, spellings.names);
    spellings.upward.insert(fs::path(spelled).parent_path());
  }
}

/// The path that the kernel reaches by `path`: lexically normal where that is the same file, else without links.
fs::path real_path(const fs::path& path) {
  fs::path normal = path.lexically_normal();
  if (normal == path || identity_of(path) == identity_of(normal)) {
    return normal;
  }
  std::error_code ignored;
  fs::path canonical = fs::weakly_canonical(path, ignored);
  return canonical.empty() ? normal : canonical;
}

/// The directories in which a file could appear that an include would find before, or instead of, the one it
/// found: every search directory and every directory of an input (quoted includes look there), each joined with
/// every directory part that an include can have had.
std::set<fs::path> directories_to_watch(const std::set<fs::path>& files, const std::set<fs::path>& search,
                                        const std::set<fs::path>& upward) {
  std::set<fs::path> starts = search;
  std::set<fs::path> parts = upward;
  parts.insert(fs::path{});
  for (const fs::path& file : files) {
    starts.insert(file.parent_path());
    for (const fs::path& directory : search) {
      if (lies_below(file, directory)) {
        for (fs::path part = relative_below(file, directory).parent_path(); !part.empty();
             part = part.parent_path()) {
          parts.insert(part);
        }
      }
    }
  }
  std::set<fs::path> watched;
  for (const fs::path& start : starts) {
    for (const fs::path& part : parts) {
      const fs::path directory = part.empty() ? start : start / part;
      const std::optional<FileIdentity> identity = identity_of(directory);
      // Below an existing start, an absent subdirectory shows in its parent's names when it is made; one that is
      // reached by ".." need not.
      const bool watch_absent = part.empty() || upward.contains(part);
      if (identity ? identity->is_directory() : watch_absent) {
        watched.insert(real_path(directory));
      }
    }
  }
  return watched;
}

/// A name that is only asked for is no input; the object depends on the answer all the same.
Digest answers_in(const InputSet& set, const PathBase& base) {
  Hasher hasher;
  for (const WatchedDirectory& directory : set.directories) {
    for (const std::string& name : list_directory(base.absolute(directory.path))) {
      if (std::binary_search(set.probed_names.begin(), set.probed_names.end(), name)) {
        hasher.text("directory", directory.path);
        hasher.text("name", name);
      }
    }
  }
  return hasher.finish();
}

} // namespace

Collected collect_reported(const Part& part, const std::vector<PassReport>& passes, const PathBase& base,
                           DigestMemo& memo) {
  std::set<fs::path> files;
  std::set<fs::path> search;
  Spellings spellings;
  for (const PassReport& pass : passes) {
    for (const fs::path& file : pass.files) {
      if (!lies_below(file, part.generated) &&
          std::find(part.objects.begin(), part.objects.end(), file) == part.objects.end()) {
        files.insert(real_path(file));
      }
    }
    for (const fs::path& directory : pass.search_directories) {
      search.insert(real_path(directory));
    }
    spellings.names.insert(pass.sought_names.begin(), pass.sought_names.end());
  }
  Collected collected;
  InputSet& set = collected.set;
  set.parts = {part.name};
  for (const fs::path& file : files) {
    const std::optional<FileIdentity> identity = identity_of(file);
    const bool is_text = identity && identity->size < largest_source;
    const std::optional<std::string> text = is_text ? read_file(file) : std::nullopt;
    const std::optional<Digest> content = text ? digest_of(*text) : memo.digest(file);
    if (!content) {
      collected.unreadable.push_back(file.string());
      continue;
    }
    set.inputs.push_back({base.portable(file), *content, 1});
    scan_has_include(text.value_or(""), spellings);
    scan_upward_includes(text.value_or(""), spellings);
  }
  set.probed_names.assign(spellings.names.begin(), spellings.names.end());
  sort_inputs(set.inputs);
  const RelevantNames relevant(set);
  DigestMemo fresh{fs::path{}};
  for (const fs::path& directory : directories_to_watch(files, search, spellings.upward)) {
    set.directories.push_back(
        {base.portable(directory), names_digest(directory, fresh), relevant.digest_in(directory)});
  }
  set.answers = answers_in(set, base);
  std::sort(set.directories.begin(), set.directories.end(),
            [](const WatchedDirectory& a, const WatchedDirectory& b) { return a.path < b.path; });
  return collected;
}

std::string changed_since(const InputSet& set, const PathBase& base, std::int64_t since_ns) {
  for (const Input& input : set.inputs) {
    const std::optional<FileIdentity> identity = identity_of(base.absolute(input.path));
    if (!identity || identity->ctime_ns >= since_ns) {
      return input.path;
    }
  }
  return {};
}

} // namespace dcuop::key

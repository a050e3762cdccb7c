#include "dcuop/key/input_set.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unistd.h>

#include "asked_names.hpp"
#include "dcuop/support/environment.hpp"
#include "dcuop/support/files.hpp"
#include "input_list.hpp"
#include "relevant_names.hpp"

namespace dcuop::key {

namespace {

constexpr std::size_t last_reader_bit = 63;

std::string text_of(Found found) {
  switch (found) {
  case Found::nothing:
    return "nothing";
  case Found::file:
    return "file";
  case Found::directory:
    return "directory";
  case Found::other:
    return "other";
  case Found::changed:
    break;
  }
  return "changed";
}

/// What was asked in the directories whose names changed: what is answered otherwise now, and what has to be asked again
/// each time.
void ask_again(const InputSet& set, const std::set<std::string>& directories, const PathBase& base,
               Comparison& comparison) {
  std::string directory;
  std::vector<std::string> names; ///< of `directory`
  bool is_changed = false;
  bool may_be_listed = true;
  const bool is_whole =
      for_each_asked(set.asked, [&](std::string_view asked_directory, std::string_view name, Found found) {
        if (directory != asked_directory) {
          directory = asked_directory;
          is_changed = directories.contains(directory);
          const fs::path path = base.absolute(directory);
          names = is_changed ? list_directory(path) : std::vector<std::string>{};
          may_be_listed = ::access(path.c_str(), R_OK) == 0;
        }
        const std::string first(name.substr(0, name.find('/')));
        const bool may_differ = found != Found::nothing || !may_be_listed ||
                                std::binary_search(names.begin(), names.end(), first);
        const std::string path = path_in(directory, name);
        if (is_changed && may_differ) {
          (found_at(base.absolute(path)) == found ? comparison.asked_again : comparison.answers)
              .push_back({Question::what_is_there, path, text_of(found)});
        }
      });
  if (!is_whole) {
    comparison.answers.push_back({Question::what_is_there, "index record", "damaged"});
  }
}

} // namespace

std::string PathBase::portable(const fs::path& path) const {
  const fs::path normal = path.lexically_normal();
  return lies_below(normal, workspace) ? normal.lexically_relative(directory).string() : normal.string();
}

fs::path PathBase::absolute(const std::string& portable_path) const {
  return portable_path == "." ? directory
                              : directory / portable_path; // an absolute one replaces the directory
}

Found found_at(const fs::path& path) {
  const std::optional<FileIdentity> identity = identity_of(path);
  if (!identity) {
    return Found::nothing;
  }
  return identity->is_regular() ? Found::file : identity->is_directory() ? Found::directory : Found::other;
}

std::string answer_now(const LookUp& look_up, const PathBase& base) {
  const fs::path path = base.absolute(look_up.subject);
  std::error_code error;
  switch (look_up.question) {
  case Question::what_is_there:
    return text_of(found_at(path));
  case Question::link:
    return fs::read_symlink(path, error).string();
  case Question::may_run:
    return ::access(path.c_str(), X_OK) == 0 ? "yes" : "no";
  case Question::same_file:
    return fs::equivalent(path, base.absolute(look_up.answer), error) ? look_up.answer : "another file";
  case Question::program:
    return Environment({{"PATH", base.program_path}}).find_program(look_up.subject).value_or("nothing");
  case Question::home:
    return base.home;
  }
  return {};
}

Digest InputSet::digest() const {
  Hasher hasher;
  for (const Input& input : inputs) {
    hasher.text("path", input.path);
    hasher.digest("content", input.content);
  }
  for (const LookUp& look_up : look_ups) {
    if (look_up.answer != text_of(Found::nothing)) {
      hasher.number("question", static_cast<std::uint64_t>(look_up.question));
      hasher.text("subject", look_up.subject);
      hasher.text("answer", look_up.answer);
    }
  }
  (void)for_each_asked(asked, [&](std::string_view directory, std::string_view name, Found found) {
    if (found != Found::nothing) {
      hasher.text("name", path_in(directory, name));
      hasher.number("found", static_cast<std::uint64_t>(found));
    }
  });
  hasher.digest("answers", answers);
  return hasher.finish();
}

Digest InputSet::record_digest() const {
  Hasher hasher;
  hasher.digest("inputs", digest());
  for (const WatchedDirectory& directory : directories) {
    hasher.text("directory", directory.path);
    hasher.number("exists", directory.names ? 1 : 0);
    hasher.digest("names", directory.names.value_or(Digest{}));
    hasher.digest("relevant", directory.relevant.value_or(Digest{}));
  }
  return hasher.finish();
}

std::vector<std::string> InputSet::readers_of(const Input& input) const {
  std::vector<std::string> readers;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if ((input.readers >> std::min(part, last_reader_bit)) & 1U) {
      readers.push_back(parts[part]);
    }
  }
  return readers;
}

Comparison compare(const InputSet& set, const PathBase& base, DigestMemo& memo, bool first_only) {
  Comparison comparison;
  for (const Input& input : set.inputs) {
    const std::optional<Digest> content = memo.digest(base.absolute(input.path));
    if (content != input.content) {
      comparison.changed.push_back(input);
      if (first_only) {
        return comparison;
      }
    }
  }
  for (const LookUp& look_up : set.look_ups) {
    if (answer_now(look_up, base) != look_up.answer) {
      comparison.answers.push_back(look_up);
    }
  }
  std::set<std::string> changed_directories;
  std::optional<RelevantNames> relevant;
  for (const WatchedDirectory& directory : set.directories) {
    const fs::path path = base.absolute(directory.path);
    const std::optional<Digest> names = names_digest(path, memo);
    const bool is_unlisted = !names && found_at(path) == Found::directory;
    if (names == directory.names && !is_unlisted) {
      continue;
    }
    changed_directories.insert(directory.path);
    if (directory.relevant) {
      if (!relevant) {
        relevant.emplace(set);
      }
      if (relevant->digest_in(path) != directory.relevant) {
        comparison.shadowed.push_back(directory.path);
      } else {
        comparison.relevant_again = true;
      }
    }
  }
  if (!changed_directories.empty()) {
    ask_again(set, changed_directories, base, comparison);
  }
  return comparison;
}

namespace {

/// What nothing has: the next look-up looks closer.
Digest changed_meanwhile() {
  return digest_of("changed while it was being built");
}

AskedNames merged_names(const std::vector<InputSet>& sets) {
  AskedNames merged;
  for (const InputSet& set : sets) {
    (void)for_each_asked(set.asked, [&](std::string_view directory, std::string_view name, Found found) {
      const auto [place, is_new] = merged[std::string(directory)].try_emplace(std::string(name), found);
      if (!is_new && place->second != found) {
        place->second = Found::changed;
      }
    });
  }
  return merged;
}

std::vector<LookUp> merged_look_ups(const std::vector<InputSet>& sets) {
  std::map<std::pair<Question, std::string>, std::string> merged;
  for (const InputSet& set : sets) {
    for (const LookUp& look_up : set.look_ups) {
      const auto [place, is_new] =
          merged.emplace(std::pair(look_up.question, look_up.subject), look_up.answer);
      if (!is_new && place->second != look_up.answer) {
        place->second = text_of(Found::changed);
      }
    }
  }
  std::vector<LookUp> look_ups;
  for (const auto& [question, answer] : merged) {
    look_ups.push_back({question.first, question.second, answer});
  }
  return look_ups;
}

} // namespace

InputSet merge(const std::vector<InputSet>& sets, const PathBase& base) {
  InputSet merged;
  std::set<std::string> probed;
  std::map<std::string, WatchedDirectory> directories;
  Hasher answers;
  for (const InputSet& set : sets) {
    const std::size_t first_part = merged.parts.size();
    merged.parts.insert(merged.parts.end(), set.parts.begin(), set.parts.end());
    for (const Input& input : set.inputs) {
      std::uint64_t readers = 0;
      for (std::size_t part = 0; part < set.parts.size(); ++part) {
        if ((input.readers >> std::min(part, last_reader_bit)) & 1U) {
          readers |= std::uint64_t{1} << std::min(first_part + part, last_reader_bit);
        }
      }
      merged.inputs.push_back({input.path, input.content, readers});
    }
    for (const WatchedDirectory& directory : set.directories) {
      const auto [place, is_new] = directories.emplace(directory.path, directory);
      if (!is_new && place->second.names != directory.names) {
        place->second.names = changed_meanwhile();
      }
      if (directory.relevant) {
        place->second.relevant = directory.relevant;
      }
    }
    probed.insert(set.probed_names.begin(), set.probed_names.end());
    answers.digest("answers", set.answers);
  }
  merged.answers = answers.finish();
  sort_inputs(merged.inputs);
  merged.look_ups = merged_look_ups(sets);
  merged.asked = packed(merged_names(sets));
  merged.probed_names.assign(probed.begin(), probed.end());
  // What is relevant in a directory depends on all parts now.
  const RelevantNames relevant(merged);
  DigestMemo fresh{fs::path{}};
  for (auto& [path, directory] : directories) {
    if (directory.relevant) {
      const fs::path absolute = base.absolute(path);
      const bool same = names_digest(absolute, fresh) == directory.names;
      directory.relevant = same ? relevant.digest_in(absolute) : changed_meanwhile();
    }
    merged.directories.push_back(directory);
  }
  return merged;
}

} // namespace dcuop::key

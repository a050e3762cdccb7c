#include "wrapper_scripts.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

constexpr std::uint64_t largest_script = std::uint64_t{1} << 20;
constexpr std::string_view word_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-";

bool is_text(const fs::path& path) {
  const auto identity = identity_of(path);
  if (!identity || !identity->is_regular() || identity->size > largest_script) {
    return false;
  }
  const auto start = read_file_prefix(path, 4096);
  return start && start->find('\0') == std::string::npos;
}

void add_words(std::string_view line, std::set<std::string>& words) {
  while (!line.empty()) {
    const auto start = std::min(line.find_first_of(word_characters), line.size());
    line.remove_prefix(start);
    const auto end = std::min(line.find_first_not_of(word_characters), line.size());
    auto word = line.substr(0, end);
    while (word.ends_with('.')) {
      word.remove_suffix(1);
    }
    if (!word.empty()) {
      words.emplace(word);
    }
    line.remove_prefix(end);
  }
}

std::set<std::string> words_of(const fs::path& script) {
  std::set<std::string> words;
  const auto text = read_file(script).value_or("");
  for (const auto& line : split(text, '\n')) {
    if (!trimmed(line).starts_with('#')) {
      add_words(line, words);
    }
  }
  return words;
}

bool mentioned(const std::string& name, const std::set<std::string>& words) {
  const fs::path path(name);
  const auto extension = path.extension();
  const bool script_extension =
      extension == ".pl" || extension == ".pm" || extension == ".py" || extension == ".sh";
  return words.contains(name) || (script_extension && words.contains(path.stem().string()));
}

std::set<fs::path> directories_of(const fs::path& script) {
  std::set<fs::path> directories = {script.parent_path()};
  std::error_code error;
  if (const auto real = fs::canonical(script, error); !error) {
    directories.insert(real.parent_path());
  }
  return directories;
}

} // namespace

bool is_script(const fs::path& path) {
  return is_text(path) && read_file_prefix(path, 2) == "#!";
}

std::vector<fs::path> helper_scripts(const fs::path& script) {
  std::set<fs::path> found = {script};
  std::vector<fs::path> unread = {script};
  while (!unread.empty()) {
    const auto current = unread.back();
    unread.pop_back();
    const auto words = words_of(current);
    for (const auto& directory : directories_of(current)) {
      for (const auto& name : list_directory(directory)) {
        const auto candidate = directory / name;
        if (mentioned(name, words) && !found.contains(candidate) && is_text(candidate)) {
          found.insert(candidate);
          unread.push_back(candidate);
        }
      }
    }
  }
  found.erase(script);
  return {found.begin(), found.end()};
}

} // namespace dcuop::probe

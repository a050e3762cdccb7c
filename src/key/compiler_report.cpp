#include "dcuop/key/compiler_report.hpp"

#include <algorithm>
#include <optional>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::key {

namespace {

/// One prerequisite, from `position` on; advances it. nullopt at a line's end.
std::optional<std::string> next_word(std::string_view text, std::size_t& position) {
  const auto at = [&](std::size_t index) { return index < text.size() ? text[index] : '\0'; };
  std::string word;
  while (position < text.size()) {
    const char c = text[position];
    if (c == '\\' && at(position + 1) == '\r' && at(position + 2) == '\n') {
      position += 3;
    } else if (c == '\\' && at(position + 1) == '\n') {
      position += 2;
    } else if (c == '\\' &&
               (at(position + 1) == ' ' || at(position + 1) == '#' || at(position + 1) == '\t')) {
      word += text[position + 1];
      position += 2;
      continue;
    } else if (c == '$' && at(position + 1) == '$') {
      word += '$';
      position += 2;
      continue;
    } else if (c == '\n' || c == '\r') {
      break;
    } else if (c == ' ' || c == '\t') {
      ++position;
    } else {
      word += c;
      ++position;
      continue;
    }
    if (!word.empty()) { // a blank or a continuation ends a word
      break;
    }
  }
  return word.empty() ? std::nullopt : std::optional(word);
}

/// The position after the first ':' that ends a target (not the one of a drive or of "a\:b").
std::size_t after_target(std::string_view line) {
  for (std::size_t index = 0; index < line.size(); ++index) {
    if (line[index] == ':' && (index == 0 || line[index - 1] != '\\') &&
        (index + 1 == line.size() ||
         std::string_view(" \t\n\r\\").find(line[index + 1]) != std::string_view::npos)) {
      return index + 1;
    }
  }
  return std::string_view::npos;
}

/// ".." stays: behind a link it does not lead to where the path's text says.
std::filesystem::path absolute_as_written(const std::filesystem::path& path,
                                          const std::filesystem::path& directory) {
  return path.is_absolute() ? path : directory / path;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void add_directory(std::vector<std::filesystem::path>& into, std::string_view text,
                   const std::filesystem::path& directory) {
  const std::filesystem::path path = absolute_as_written(std::string(trimmed(text)), directory);
  if (std::find(into.begin(), into.end(), path) == into.end()) {
    into.push_back(path);
  }
}

template <typename Function> void for_each_line(std::string_view text, const Function& function) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    function(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
}

} // namespace

std::vector<std::filesystem::path> parse_depfile(std::string_view text,
                                                 const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  const std::size_t start = after_target(text);
  if (start == std::string_view::npos) {
    return files;
  }
  // Only the first rule: ld and gcc -MP add empty rules for each prerequisite behind it.
  std::size_t position = start;
  while (const std::optional<std::string> word = next_word(text, position)) {
    files.push_back(absolute_as_written(*word, directory));
  }
  return files;
}

std::vector<std::filesystem::path> parse_link_depfile(std::string_view text,
                                                      const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  bool in_rule = true;
  bool is_target = true;
  for_each_line(text, [&](std::string_view line) {
    if (!in_rule) {
      return;
    }
    const bool continues = line.ends_with('\\');
    in_rule = continues;
    std::string path(trimmed(continues ? line.substr(0, line.size() - 1) : line));
    if (!is_target && !path.empty()) {
      for (std::size_t at = path.find("\\ "); at != std::string::npos; at = path.find("\\ ", at)) {
        path.erase(at, 1); // lld escapes
      }
      files.push_back(absolute_as_written(path, directory));
    }
    is_target = false;
  });
  return files;
}

std::vector<std::filesystem::path> parse_search_directories(std::string_view diagnostics,
                                                            const std::filesystem::path& directory) {
  constexpr std::string_view ignored = "ignoring nonexistent directory \"";
  constexpr std::string_view framework = " (framework directory)";
  std::vector<std::filesystem::path> directories;
  bool in_list = false;
  for_each_line(diagnostics, [&](std::string_view line) {
    if (line.starts_with(ignored)) {
      add_directory(directories, line.substr(ignored.size(), line.rfind('"') - ignored.size()), directory);
    } else if (contains(line, "search starts here:")) {
      in_list = true;
    } else if (line.starts_with("End of search list.")) {
      in_list = false;
    } else if (in_list && line.starts_with(' ')) {
      add_directory(directories, line.substr(0, line.find(framework)), directory);
    }
  });
  return directories;
}

std::vector<std::filesystem::path> parse_library_directories(std::string_view diagnostics,
                                                             const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> directories;
  for_each_line(diagnostics, [&](std::string_view line) {
    const bool is_command = line.starts_with(' ') && (contains(line, " -o ") || contains(line, "\"-o\""));
    if (!is_command) {
      return;
    }
    const std::vector<std::string> words = shell_words(line);
    for (std::size_t index = 0; index < words.size(); ++index) {
      if (words[index] == "-L" && index + 1 < words.size()) {
        add_directory(directories, words[index + 1], directory);
      } else if (words[index].starts_with("-L") && words[index].size() > 2) {
        add_directory(directories, std::string_view(words[index]).substr(2), directory);
      }
    }
  });
  return directories;
}

} // namespace dcuop::key

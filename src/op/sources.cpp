#include "sources.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "glob.hpp"

namespace dcuop::op {

namespace {

constexpr std::string_view known_extensions = ".hip and .cu (HIP), .cpp, .cc and .cxx (C++), .c (C)";

class Reader {
 public:
  Reader(const TomlFile& file, const SourceBase& base) : file_(file), base_(base) {}

  void add(const TomlNode& item) {
    if (fs::path(item.text).is_absolute()) {
      file_.fail(item.place, "source '" + item.text + "' is an absolute path",
                 "write it relative to " + shown_path(base_.directory).string());
    }
    const fs::path path = absolute_from(item.text, base_.directory);
    if (is_pattern(item.text) && !identity_of(path)) {
      add_pattern(item, path);
    } else {
      add_file(item, path);
    }
  }
  [[nodiscard]] SourceList take() { return {std::move(sources_), std::move(places_)}; }

 private:
  void add_pattern(const TomlNode& item, const fs::path& pattern) {
    require_inside(item, pattern); // before it is looked for: "../../**" is the whole disk
    std::vector<fs::path> found = expand_pattern(base_.directory, item.text);
    // A pattern may sweep up headers and notes; a file that is named must be a source.
    std::erase_if(found, [](const fs::path& path) {
      const std::optional<FileIdentity> identity = identity_of(path);
      return !identity || !identity->is_regular() || !language_of(path);
    });
    if (found.empty()) {
      file_.fail(item.place, "no source file matches '" + item.text + "'",
                 "sources are " + std::string(known_extensions));
    }
    for (const fs::path& path : found) {
      add_source(item, path, *language_of(path));
    }
  }

  void add_file(const TomlNode& item, const fs::path& path) {
    const std::optional<FileIdentity> identity = identity_of(path);
    if (!identity) {
      fail_missing(item, path);
    }
    if (!identity->is_regular()) {
      file_.fail(item.place, "source '" + item.text + "' is no file",
                 identity->is_directory() ? "name its files, or '" + item.text + "/*.cpp'" : "");
    }
    const std::optional<Language> language = language_of(path);
    if (!language) {
      file_.fail(item.place, "source '" + item.text + "' has an extension that names no language",
                 "sources are " + std::string(known_extensions) + "; headers are found by the compiler");
    }
    add_source(item, path, *language);
  }

  void require_inside(const TomlNode& item, const fs::path& path) const {
    if (!lies_below(path, base_.workspace_root)) {
      file_.fail(item.place,
                 "source '" + item.text + "' lies outside " + shown_path(base_.workspace_root).string(),
                 "a workspace holds all sources of its ops: move the file, or the [workspace] further up");
    }
  }

  void add_source(const TomlNode& item, const fs::path& path, Language language) {
    require_inside(item, path);
    const fs::path relative = path.lexically_relative(base_.directory).generic_string();
    if (std::any_of(sources_.begin(), sources_.end(),
                    [&](const Source& source) { return source.path == relative; })) {
      file_.fail(item.place, "source '" + relative.string() + "' is named twice");
    }
    sources_.push_back({relative, language});
    places_.push_back(item.place);
  }

  [[noreturn]] void fail_missing(const TomlNode& item, const fs::path& path) const {
    const fs::path directory = path.parent_path();
    std::string what = "source '" + item.text + "' does not exist";
    if (!identity_of(directory)) {
      file_.fail(item.place, what, "there is no directory " + shown_path(directory).string());
    }
    std::vector<std::string> candidates = list_directory(directory);
    std::erase_if(candidates, [](const std::string& name) { return !language_of(name); });
    if (const std::optional<std::string> near = nearest(path.filename().string(), candidates)) {
      const fs::path suggestion = (directory / *near).lexically_relative(base_.directory);
      file_.fail(item.place, what + "; did you mean '" + suggestion.generic_string() + "'?");
    }
    file_.fail(item.place, what,
               candidates.empty() ? "there is no source file in " + shown_path(directory).string()
                                  : "there are: " + join(candidates, ", "));
  }

  const TomlFile& file_;
  const SourceBase& base_;
  std::vector<Source> sources_;
  std::vector<TomlPlace> places_;
};

} // namespace

std::optional<Language> language_of(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".hip" || extension == ".cu") {
    return Language::hip;
  }
  if (extension == ".cpp" || extension == ".cc" || extension == ".cxx") {
    return Language::cxx;
  }
  return extension == ".c" ? std::optional(Language::c) : std::nullopt;
}

SourceList read_sources(const TomlFile& file, const TomlNode& node, const std::string& name,
                        const SourceBase& base) {
  Reader reader(file, base);
  for (const TomlNode& item : file.texts_of(node, name)) {
    reader.add(item);
  }
  return reader.take();
}

} // namespace dcuop::op

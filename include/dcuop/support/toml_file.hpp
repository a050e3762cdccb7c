#pragma once
// A TOML file as a tree in which everything knows its place, so that every complaint can name line and
// column. toml++ stands behind it, in toml_file.cpp alone. Every TOML file of dcuop is read with it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop {

/// From 1; the column counts characters, not bytes. Line 0: somewhere in what has no lines.
struct TomlPlace {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

struct TomlMember;

struct TomlNode {
  enum class Type { text, integer, floating, boolean, date, array, table };
  Type type = Type::table;
  TomlPlace place;
  std::string text;                ///< of a text
  std::int64_t integer = 0;        ///< of an integer
  double floating = 0;             ///< of a floating-point number
  bool boolean = false;            ///< of a boolean
  std::vector<TomlNode> items;     ///< of an array
  std::vector<TomlMember> members; ///< of a table, in the file's order

  /// nullptr when this is no table or has no such key.
  [[nodiscard]] const TomlNode* find(std::string_view key) const;
};

struct TomlMember {
  std::string key;
  TomlPlace place; ///< of the key
  TomlNode value;
};

class TomlFile {
 public:
  /// Throws Error(usage): not readable, not UTF-8, not TOML (with the place).
  [[nodiscard]] static TomlFile read(const std::filesystem::path& path);
  /// The same of what a file at `path` would hold.
  [[nodiscard]] static TomlFile parse(const std::filesystem::path& path, const std::string& content);
  /// What was not read from a file. Relative paths in it are below `directory`; complaints call it `label`.
  [[nodiscard]] static TomlFile of(const std::filesystem::path& directory, std::string label, TomlNode root);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const TomlNode& root() const { return root_; }

  /// Throws Error(usage) with "path:line:column: error: what"; the path is relative to the process's working
  /// directory when it lies below it.
  [[noreturn]] void fail(TomlPlace place, const std::string& what, const std::string& hint = {}) const;

  // Values of one type; `name` is how a complaint calls the key, e.g. "'name' in [op]". Texts must not be
  // empty nor hold control characters: no path, flag or name that dcuop hands on has any.
  [[nodiscard]] std::string text_of(const TomlNode& node, const std::string& name) const;
  [[nodiscard]] std::int64_t integer_of(const TomlNode& node, const std::string& name) const;
  /// Of an integer or a floating-point number that is finite.
  [[nodiscard]] double number_of(const TomlNode& node, const std::string& name) const;
  [[nodiscard]] bool boolean_of(const TomlNode& node, const std::string& name) const;
  /// The nodes of an array of texts, each checked.
  [[nodiscard]] const std::vector<TomlNode>& texts_of(const TomlNode& node, const std::string& name) const;

 private:
  TomlFile(std::filesystem::path path, TomlNode root) : path_(std::move(path)), root_(std::move(root)) {}
  [[noreturn]] void fail_type(const TomlNode& node, const std::string& name, const std::string& wanted) const;
  std::filesystem::path path_;
  TomlNode root_;
  std::string label_; ///< instead of the path, in complaints
};

/// "a string", "an array", ...: for messages.
[[nodiscard]] std::string to_string(TomlNode::Type type);

/// Relative to the process's working directory when below it, else as it is: how messages name files.
[[nodiscard]] std::filesystem::path shown_path(const std::filesystem::path& path);

} // namespace dcuop

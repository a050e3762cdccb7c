#pragma once
// A table of a TOML file whose keys are taken one after the other; what nobody took is unknown.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/support/toml_file.hpp"

namespace dcuop {

class TableReader {
 public:
  /// `where` is how complaints call the table: "[verify.gate]". Throws Error(usage) when the node is no table.
  TableReader(const TomlFile& file, const TomlNode& table, std::string where);

  /// nullptr when the table has no such key.
  [[nodiscard]] const TomlNode* take(std::string_view key);
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  [[nodiscard]] std::optional<bool> boolean(std::string_view key);
  [[nodiscard]] std::optional<double> number(std::string_view key);
  /// At least `least`.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t least);
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key, std::int64_t least);
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  /// One of `choices`.
  [[nodiscard]] std::optional<std::string> choice(std::string_view key,
                                                  const std::vector<std::string>& choices);
  /// The tables of an array of them.
  [[nodiscard]] std::vector<TableReader> tables(std::string_view key, const std::string& each);

  /// Throws Error(usage) for a key that was not taken, with the nearest that was.
  void finish() const;

  [[noreturn]] void fail(const TomlNode* node, const std::string& what, const std::string& hint = {}) const;
  void check_choice(const TomlNode& node, const std::string& text, const std::string& name,
                    const std::vector<std::string>& choices) const;
  [[nodiscard]] std::string name_of(std::string_view key) const;
  [[nodiscard]] const TomlFile& file() const { return *file_; }
  [[nodiscard]] const TomlNode& node() const { return *table_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  const TomlFile* file_;
  const TomlNode* table_;
  std::string where_;
  std::vector<std::string> taken_;
};

} // namespace dcuop

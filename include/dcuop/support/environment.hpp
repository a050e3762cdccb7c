#pragma once
// The environment as a value: read once in main, handed down, replaced in tests.

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dcuop {

class Environment {
 public:
  Environment() = default;
  /// Without it, Environment({{"A", "b"}}) with one variable would be ambiguous.
  Environment(std::initializer_list<std::pair<const std::string, std::string>> variables)
      : variables_(variables) {}
  explicit Environment(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {}
  [[nodiscard]] static Environment of_this_process();

  /// nullopt when unset; an empty value is a value.
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
  /// The value when set and not empty.
  [[nodiscard]] std::optional<std::string> get_nonempty(std::string_view name) const;
  void set(std::string name, std::string value) { variables_[std::move(name)] = std::move(value); }
  void unset(const std::string& name) { variables_.erase(name); }

  [[nodiscard]] const std::map<std::string, std::string>& variables() const { return variables_; }
  /// "NAME=value" lines, as execve(2) takes them.
  [[nodiscard]] std::vector<std::string> as_lines() const;
  /// The first executable regular file `name` on this PATH (absolute entries alone: the directory one stands
  /// in chooses no program); `name` itself when it holds a slash and is one.
  [[nodiscard]] std::optional<std::string> find_program(std::string_view name) const;

 private:
  std::map<std::string, std::string> variables_;
};

} // namespace dcuop

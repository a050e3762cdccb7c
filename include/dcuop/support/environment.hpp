#pragma once
// The environment as a value: read once in main, handed down, replaced in tests.

#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dcuop {

/// What was asked of an environment: all that what was worked out from it depends on. Thread-safe.
class AskedVariables {
 public:
  void note_name(std::string_view name);
  void note_prefix(std::string_view prefix);
  void note_all();

  struct Asked {
    std::set<std::string> names;
    std::set<std::string> prefixes; ///< which names begin so, and their values
    bool all = false;               ///< it was handed to a process
  };
  [[nodiscard]] Asked taken() const;

 private:
  mutable std::mutex mutex_;
  Asked asked_;
};

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

  [[nodiscard]] std::map<std::string, std::string> starting_with(std::string_view prefix) const;
  /// "NAME=value" lines, as execve(2) takes them.
  [[nodiscard]] std::vector<std::string> as_lines() const;
  /// The first executable regular file `name` on this PATH (absolute entries alone: the directory one stands
  /// in chooses no program); `name` itself when it holds a slash and is one.
  [[nodiscard]] std::optional<std::string> find_program(std::string_view name) const;

  /// From now on what is asked of this one, and of its copies, is noted in `asked`.
  void note_in(std::shared_ptr<AskedVariables> asked) { asked_ = std::move(asked); }

 private:
  std::map<std::string, std::string> variables_;
  std::shared_ptr<AskedVariables> asked_; ///< nullptr: nobody wants to know
};

} // namespace dcuop

// ge:          https://github.com/mirror-cann/graph-autofusion, super_kernel/src/jit/superkernel/super_kernel_option_parse.py
// npugraph_ex: the same repository, super_kernel/src/aot/sk_options_manager.cpp
#include "dcuop/superkernel/options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

#include "dcuop/support/text.hpp"

namespace dcuop::superkernel {

namespace {

using Kind = OptionProblem::Kind;

enum class Form { number, list, power_of_two, any, words };

/// A key, and what its back end takes for it.
struct Row {
  std::string_view key;
  Form form;
  std::uint32_t least, most;
  std::string_view words; ///< of Form::words; of Form::any: what is documented
};

constexpr std::uint32_t no_limit = 0xffffffff;

constexpr std::array ge_rows = {
    Row{"feed-sync-all", Form::words, 0, 0, "0 1"},
    Row{"stream-fusion", Form::words, 0, 0, "0 1"},
    Row{"strict-scope-check", Form::any, 0, 0, "bypass abort"},
    Row{"dcci-before-kernel-start", Form::list, 0, 0, {}},
    Row{"dcci-after-kernel-end", Form::list, 0, 0, {}},
    Row{"dcci-disable-on-kernel", Form::list, 0, 0, {}},
    Row{"debug-aic-num", Form::number, 0, no_limit, {}},
    Row{"debug-aiv-num", Form::number, 0, no_limit, {}},
    Row{"early-start", Form::words, 0, 0, "0 1 2"},
    Row{"preload-code", Form::words, 0, 0, "max none per-func"},
    Row{"split-mode", Form::number, 1, 64, {}},
    Row{"func-align", Form::power_of_two, 0, no_limit, {}},
    Row{"debug-dcci-all", Form::words, 0, 0, "0 1"},
    Row{"debug-sync-all", Form::words, 0, 0, "0 1"},
    Row{"profiling", Form::words, 0, 0, "0 1"},
    Row{"compile-options", Form::any, 0, 0, {}},
};

constexpr std::array npu_rows = {
    Row{"preload_code", Form::number, 0, 2, {}},
    Row{"split_mode", Form::number, 1, 4, {}},
    Row{"stream_fusion", Form::number, 0, 1, {}},
    Row{"early_start", Form::number, 0, 1, {}},
    Row{"constant_codegen", Form::number, 0, 1, {}},
    Row{"auto_op_parallel", Form::number, 0, 1, {}},
    Row{"dcci_before_kernel_start", Form::list, 0, 0, {}},
    Row{"dcci_after_kernel_end", Form::list, 0, 0, {}},
    Row{"dcci_disable_on_kernel", Form::list, 0, 0, {}},
    Row{"ubuf_lock_ignore_kernel", Form::list, 0, 0, {}},
    Row{"aggressive_opt_strategies.event_breaker_bypass", Form::number, 0, no_limit, {}},
    Row{"aggressive_opt_strategies.value_breaker_bypass", Form::number, 0, no_limit, {}},
    Row{"aggressive_opt_strategies.task_breaker_bypass", Form::number, 0, 1, {}},
    Row{"opt_extend_option", Form::any, 0, 0, {}},
    Row{"debug_sync_all", Form::number, 0, 1, {}},
    Row{"debug_op_exec_trace", Form::number, 0, 1, {}},
    Row{"debug_cross_core_sync_check", Form::number, 0, 1, {}},
    Row{"debug_per_op_max_core_num", Form::number, 0, 1, {}},
    Row{"debug_extend_option", Form::any, 0, 0, {}},
};

template <std::size_t count> const Row* row_of(const std::array<Row, count>& rows, std::string_view key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

template <std::size_t count> std::vector<std::string> keys_of(const std::array<Row, count>& rows) {
  std::vector<std::string> keys;
  keys.reserve(count);
  for (const Row& row : rows) {
    keys.emplace_back(row.key);
  }
  return keys;
}

std::string with(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

/// Empty when the row takes the value.
std::string wanted_by(const Row& row, std::string_view value) {
  const std::optional<std::uint32_t> number = number_in(value);
  switch (row.form) {
  case Form::number:
    if (!number || *number < row.least || *number > row.most) {
      return row.most == no_limit ? "a number"
             : row.least == 0 && row.most == 1
                 ? "0 or 1"
                 : "a number from " + std::to_string(row.least) + " to " + std::to_string(row.most);
    }
    return {};
  case Form::power_of_two:
    return number && *number != 1 && (*number & (*number - 1)) == 0 ? "" : "0, or a power of two from 2 on";
  case Form::words: {
    const std::vector<std::string> words = split(row.words, ' ');
    return std::find(words.begin(), words.end(), value) != words.end() ? ""
           : words.size() == 2                                         ? join(words, " or ")
                                                                       : "one of " + join(words, ", ");
  }
  case Form::list:
  case Form::any:
    break;
  }
  return {};
}

/// The key that somebody meant who wrote `key`. The page that introduced the options says dcci-after-kernel-start, and
/// the parser knows dcci-after-kernel-end only; by letters alone the nearest would be dcci-before-kernel-start.
std::string meant_by(const std::string& key, const std::vector<std::string>& keys) {
  if (key == "dcci-after-kernel-start" || key == "dcci_after_kernel_start") {
    return key.substr(0, key.size() - 5) + "end";
  }
  if (key == "dcci-before-kernel-end" || key == "dcci_before_kernel_end") {
    return key.substr(0, key.size() - 3) + "start";
  }
  return nearest(key, keys).value_or("");
}

void set_value(Options& options, const std::string& key, const std::vector<std::string>& values) {
  const std::uint32_t number = values.empty() ? 0 : number_in(values.front()).value_or(0);
  const auto list = [&](std::string_view name, std::vector<std::string>& into) {
    if (key == name) {
      into = values;
    }
  };
  list("dcci-before-kernel-start", options.dcci_before);
  list("dcci-after-kernel-end", options.dcci_after);
  list("dcci-disable-on-kernel", options.dcci_disable);
  if (key == "feed-sync-all") {
    options.feed_sync_all = number == 1;
  } else if (key == "stream-fusion") {
    options.stream_fusion = number == 1;
  } else if (key == "early-start") {
    options.early_start = static_cast<int>(number);
  } else if (key == "debug-sync-all") {
    options.debug_sync_all = number == 1;
  } else if (key == "debug-per-op-max-core-num") {
    options.each_at_full = number == 1;
  } else if (key == "debug-aic-num") {
    options.debug_aic = number;
  } else if (key == "debug-aiv-num") {
    options.debug_aiv = number;
  }
}

std::vector<std::string> list_items(std::string_view value) {
  std::vector<std::string> items;
  for (const std::string& item : split(value, ',')) {
    if (const std::string_view name = trimmed(item); !name.empty()) {
      items.emplace_back(name);
    }
  }
  return items;
}

/// One "key=value" of a string of ge.
void take_ge_item(Options& options, std::set<std::string>& seen, const std::string& item) {
  const std::size_t equals = item.find('=');
  const std::string key(trimmed(std::string_view(item).substr(0, equals)));
  const auto problem = [&](Kind kind, const std::string& value, const std::string& wanted) {
    options.problems.push_back({kind, key, value, wanted, item});
  };
  if (equals == std::string::npos) {
    problem(Kind::ignored, {}, {});
    return;
  }
  const std::string value(trimmed(std::string_view(item).substr(equals + 1)));
  const Row* row = row_of(ge_rows, key);
  if (row == nullptr) {
    const std::string twin = with(key, '_', '-');
    if (row_of(ge_rows, twin) == nullptr && row_of(npu_rows, with(key, '-', '_')) != nullptr) {
      problem(Kind::other_end, value, {});
    } else {
      problem(Kind::unknown, value, meant_by(key, keys_of(ge_rows)));
    }
    return;
  }
  if (value.empty()) {
    problem(Kind::bad_value, value, "a value");
    return;
  }
  if (!seen.insert(key).second) {
    problem(Kind::duplicate, value, {});
    return;
  }
  if (const std::string wanted = wanted_by(*row, value); !wanted.empty()) {
    problem(Kind::bad_value, value, wanted);
    return;
  }
  const std::vector<std::string> documented = split(row->words, ' ');
  if (row->form == Form::any && !documented.empty() &&
      std::find(documented.begin(), documented.end(), value) == documented.end()) {
    problem(Kind::odd_value, value, "one of " + join(documented, ", "));
  }
  options.given.emplace_back(key, value);
  set_value(options, key, row->form == Form::list ? list_items(value) : std::vector{value});
}

void take_npu_option(Options& options, std::set<std::string>& seen, const NpuOption& option) {
  const std::string value = join(option.values, ",");
  const auto problem = [&](Kind kind, const std::string& wanted) {
    options.problems.push_back({kind, option.key, value, wanted, option.key + " = " + value});
  };
  const Row* row = row_of(npu_rows, option.key);
  if (row == nullptr) {
    const std::string twin = with(option.key, '-', '_');
    if (row_of(npu_rows, twin) == nullptr && row_of(ge_rows, with(option.key, '_', '-')) != nullptr) {
      problem(Kind::other_end, {});
    } else {
      problem(Kind::unknown, meant_by(option.key, keys_of(npu_rows)));
    }
    return;
  }
  if (!seen.insert(option.key).second) {
    problem(Kind::duplicate, {});
    return;
  }
  if (option.is_debug != (option.key.starts_with("debug_"))) {
    problem(Kind::bad_place,
            option.is_debug ? "super_kernel_optimize_options" : "super_kernel_debug_options");
    return;
  }
  if (option.is_list != (row->form == Form::list)) {
    problem(Kind::bad_value, row->form == Form::list ? "a list of patterns" : "one value");
    return;
  }
  if (const std::string wanted = wanted_by(*row, value); !wanted.empty()) {
    problem(Kind::default_for, wanted);
    return;
  }
  for (const std::string& pattern : option.values) {
    if (row->form == Form::list && !matches_pattern(pattern, "")) {
      problem(Kind::bad_value,
              "patterns of letters, digits, '_', '-', '.' and '*' that do not begin with '*'");
      return;
    }
  }
  options.given.emplace_back(option.key, value);
  set_value(options, with(option.key, '_', '-'), option.values);
}

Options npu_options(const Scope& scope) {
  Options options;
  options.stream_fusion = true; // the back end's default
  std::set<std::string> seen;
  for (const NpuOption& option : scope.npu_options) {
    take_npu_option(options, seen, option);
  }
  return options;
}

bool is_pattern(std::string_view pattern) {
  return !pattern.empty() && pattern.front() != '*' &&
         std::all_of(pattern.begin(), pattern.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '*';
         });
}

// As Python has them -----------------------------------------------------------------------------------------------

using OptionList = std::vector<std::pair<std::string, std::string>>;

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return result + "\"";
}

std::string python_value(const std::string& key, const std::string& value) {
  const Row* row = row_of(npu_rows, key);
  if (row == nullptr || row->form != Form::list) {
    return number_in(value) ? value : in_quotes(value);
  }
  std::vector<std::string> items = list_items(value);
  std::transform(items.begin(), items.end(), items.begin(), in_quotes);
  return "[" + join(items, ", ") + "]";
}

std::string dictionary(const std::vector<std::string>& items) {
  return "{" + join(items, ", ") + "}";
}

std::string written_for_ge(const OptionList& options) {
  std::vector<std::string> items;
  items.reserve(options.size());
  for (const auto& [key, value] : options) {
    items.push_back(join({key, value}, "="));
  }
  return join(items, ":");
}

std::string written_for_npugraph_ex(const OptionList& options) {
  constexpr std::string_view nested = "aggressive_opt_strategies.";
  std::vector<std::string> optimize, debug, aggressive, all;
  for (const auto& [key, value] : options) {
    const bool is_nested = key.starts_with(nested);
    std::vector<std::string>& into = is_nested ? aggressive : key.starts_with("debug_") ? debug : optimize;
    into.push_back(
        join({in_quotes(is_nested ? key.substr(nested.size()) : key), python_value(key, value)}, ": "));
  }
  if (!aggressive.empty()) {
    optimize.push_back("\"aggressive_opt_strategies\": " + dictionary(aggressive));
  }
  if (!optimize.empty()) {
    all.push_back("\"super_kernel_optimize_options\": " + dictionary(optimize));
  }
  if (!debug.empty()) {
    all.push_back("\"super_kernel_debug_options\": " + dictionary(debug));
  }
  return join(all, ", ");
}

} // namespace

Options parse_ge_options(std::string_view text) {
  Options options;
  options.early_start = 1; // the back end's default
  while (text.starts_with('"')) {
    text.remove_prefix(1);
  }
  while (text.ends_with('"')) {
    text.remove_suffix(1);
  }
  std::set<std::string> seen;
  for (const std::string& part : split(text, ':')) {
    if (const std::string item(trimmed(part)); !item.empty()) {
      take_ge_item(options, seen, item);
    }
  }
  return options;
}

Options parse_options(const Scope& scope) {
  return scope.backend == Backend::ge ? parse_ge_options(scope.ge_options) : npu_options(scope);
}

std::optional<bool> matches_pattern(std::string_view pattern, std::string_view name) {
  pattern = trimmed(pattern);
  if (!is_pattern(pattern)) {
    return std::nullopt;
  }
  // reached[i]: what was read of the pattern can be the first i letters of the name.
  std::vector<char> reached(name.size() + 1, 0);
  reached[0] = 1;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char letter = pattern[at];
    const auto fits = [&](std::size_t i) { return letter == '.' || name[i] == letter; };
    const bool repeats = at + 1 < pattern.size() && pattern[at + 1] == '*';
    std::vector<char> next(name.size() + 1, 0);
    for (std::size_t i = 0; i <= name.size(); ++i) {
      const bool stepped = i > 0 && fits(i - 1) && (repeats ? next[i - 1] != 0 : reached[i - 1] != 0);
      next[i] = static_cast<char>(stepped || (repeats && reached[i] != 0));
    }
    reached = std::move(next);
    at += repeats ? 1 : 0;
  }
  return reached[name.size()] != 0;
}

bool names_operator(const std::string& entry, const Operator& op, Backend backend) {
  return backend == Backend::ge ? entry == op.op_type : matches_pattern(entry, op.kernel).value_or(false);
}

std::string written(const std::vector<std::pair<std::string, std::string>>& options, Backend backend) {
  return backend == Backend::ge ? written_for_ge(options) : written_for_npugraph_ex(options);
}

} // namespace dcuop::superkernel

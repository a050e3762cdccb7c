// SuperKernel options in Python, by the table that `dcuop superkernel plan` reads them with: DCU820 to DCU822.
#include <algorithm>

#include "ascend.hpp"
#include "dcuop/superkernel/options.hpp"
#include "dcuop/support/files.hpp"
#include "python_text.hpp"

namespace dcuop::check::ascend {
namespace {

using superkernel::Backend;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_space(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\\';
}

/// A part of a Python file.
struct Range {
  std::size_t begin = 0, end = 0;
};

/// As much of a file as options need: strings, lists and dictionaries that are written out.
class PythonReader {
 public:
  explicit PythonReader(std::string code) : code_(std::move(code)) {}

  const std::string& code() const { return code_; }

  /// Where words begin that are `word`, in code and not in strings.
  [[nodiscard]] std::vector<std::size_t> words(std::string_view word) const {
    std::vector<std::size_t> all;
    for (std::size_t at = 0; at < code_.size();) {
      if (code_[at] == '"' || code_[at] == '\'') {
        at = string_end(at);
      } else if (is_word(code_[at])) {
        const std::size_t begin = at;
        while (at < code_.size() && is_word(code_[at])) {
          ++at;
        }
        if (std::string_view(code_).substr(begin, at - begin) == word) {
          all.push_back(begin);
        }
      } else {
        ++at;
      }
    }
    return all;
  }

  [[nodiscard]] std::size_t solid(std::size_t at) const {
    while (at < code_.size() && is_space(code_[at])) {
      ++at;
    }
    return at;
  }

  /// Behind the literal at `at`.
  [[nodiscard]] std::size_t string_end(std::size_t at) const {
    const std::string quote = code_.compare(at, 3, std::string(3, code_[at])) == 0
                                  ? std::string(3, code_[at])
                                  : std::string(1, code_[at]);
    for (std::size_t end = at + quote.size(); end < code_.size(); ++end) {
      if (code_[end] == '\\') {
        ++end;
      } else if (code_.compare(end, quote.size(), quote) == 0) {
        return end + quote.size();
      }
    }
    return code_.size();
  }

  /// What is between commas inside the bracket at `open`.
  [[nodiscard]] std::vector<Range> items(std::size_t open) const {
    std::vector<Range> all;
    std::size_t depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t at = open; at < code_.size();) {
      const char c = code_[at];
      if (c == '"' || c == '\'') {
        at = string_end(at);
        continue;
      }
      const bool closes = c == ')' || c == ']' || c == '}';
      depth += c == '(' || c == '[' || c == '{' ? 1U : 0U;
      if ((c == ',' && depth == 1) || (closes && depth == 1)) {
        if (solid(begin) < at) {
          all.push_back({solid(begin), at});
        }
        begin = at + 1;
      }
      if (closes && --depth == 0) {
        return all;
      }
      ++at;
    }
    return {};
  }

  /// A string that is written out, in parts or by a name that is assigned once; nullopt for any other.
  [[nodiscard]] std::optional<std::string> text(Range range, int depth = 0) const {
    std::string value;
    std::size_t at = solid(range.begin);
    while (at < range.end) {
      std::size_t quote = at;
      while (quote < range.end && is_word(code_[quote])) {
        ++quote;
      }
      const std::string prefix = code_.substr(at, quote - at);
      if (quote < range.end && (code_[quote] == '"' || code_[quote] == '\'')) {
        if (prefix.find_first_of("fF") != std::string::npos) {
          return std::nullopt;
        }
        const std::size_t end = string_end(quote);
        const std::size_t width = code_.compare(quote, 3, std::string(3, code_[quote])) == 0 ? 3 : 1;
        value += code_.substr(quote + width, end - quote - 2 * width);
        at = end;
      } else if (!prefix.empty() && depth < 3) {
        const auto named = assigned(prefix, depth);
        if (!named) {
          return std::nullopt;
        }
        value += *named;
        at = quote;
      } else if (code_[at] == '(' || code_[at] == ')' || code_[at] == '+') {
        ++at;
      } else {
        return std::nullopt;
      }
      at = solid(at);
    }
    return value;
  }

 private:
  [[nodiscard]] std::optional<std::string> assigned(const std::string& name, int depth) const {
    std::optional<std::string> value;
    for (const std::size_t begin : words(name)) {
      const std::size_t sign = solid(begin + name.size());
      if (sign + 1 >= code_.size() || code_[sign] != '=' || code_[sign + 1] == '=') {
        continue;
      }
      const std::size_t from = solid(sign + 1);
      const bool whole = code_[from] == '(';
      const std::size_t end = whole ? behind(from) : std::min(code_.find('\n', from), code_.size());
      const auto one = text({from, end}, depth + 1);
      if (!one || (value && *value != *one)) {
        return std::nullopt;
      }
      value = one;
    }
    return value;
  }

  [[nodiscard]] std::size_t behind(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t at = open; at < code_.size();) {
      if (code_[at] == '"' || code_[at] == '\'') {
        at = string_end(at);
        continue;
      }
      depth += code_[at] == '(' ? 1U : 0U;
      if (code_[at++] == ')' && --depth == 0) {
        return at;
      }
    }
    return code_.size();
  }

  std::string code_;
};

class OptionCheck {
 public:
  OptionCheck(const std::filesystem::path& path, std::string_view text, Findings& findings)
      : path_(path), reader_(python_code(text)), findings_(findings) {}

  void run() {
    for (const std::size_t at : reader_.words("super_kernel")) {
      check_call(at);
    }
    for (const char* key : {"super_kernel_optimize_options", "super_kernel_debug_options"}) {
      check_tables(key);
    }
  }

 private:
  [[nodiscard]] source::Place place(std::size_t at) const {
    const std::string& code = reader_.code();
    const auto begin = code.begin();
    const auto line = std::count(begin, begin + static_cast<std::ptrdiff_t>(at), '\n');
    const auto from = at == 0 ? std::string::npos : code.rfind('\n', at - 1);
    return {static_cast<std::size_t>(line) + 1, from == std::string::npos ? at + 1 : at - from};
  }

  void report(const std::vector<superkernel::OptionProblem>& problems, Backend backend, std::size_t at) {
    for (auto& finding : superkernel::findings_of_options(problems, backend)) {
      findings_.add(std::move(finding), path_, place(at));
    }
  }

  /// super_kernel(scope, options)
  void check_call(std::size_t at) {
    const std::string& code = reader_.code();
    const std::size_t open = reader_.solid(at + std::string_view("super_kernel").size());
    const bool defines = at >= 4 && code.compare(at - 4, 4, "def ") == 0;
    if (open >= code.size() || code[open] != '(' || defines) {
      return;
    }
    std::size_t position = 0;
    for (Range item : reader_.items(open)) {
      std::size_t name_end = item.begin;
      while (name_end < item.end && is_word(code[name_end])) {
        ++name_end;
      }
      const std::size_t sign = reader_.solid(name_end);
      const bool named =
          name_end > item.begin && sign < item.end && code[sign] == '=' && code[sign + 1] != '=';
      const bool is_options =
          named ? code.substr(item.begin, name_end - item.begin) == "options" : position == 1;
      position += named ? 0 : 1;
      if (!is_options) {
        continue;
      }
      item.begin = named ? reader_.solid(sign + 1) : item.begin;
      const auto text = reader_.text(item);
      if (text && text->find_first_not_of(" \t") != std::string::npos) { // '' is what it is without options
        report(superkernel::parse_ge_options(*text).problems, Backend::ge, item.begin);
      }
    }
  }

  /// "super_kernel_optimize_options": {"key": value}
  void check_tables(const std::string& key) {
    const std::string& code = reader_.code();
    for (const char quote : {'"', '\''}) {
      const std::string whole = quote + key + quote;
      for (auto at = code.find(whole); at != std::string::npos; at = code.find(whole, at + 1)) {
        const std::size_t sign = reader_.solid(at + whole.size());
        const std::size_t open = reader_.solid(sign + 1);
        if (sign < code.size() && code[sign] == ':' && open < code.size() && code[open] == '{') {
          check_table(open, contains(key, "debug"));
        }
      }
    }
  }

  void check_table(std::size_t open, bool is_debug) {
    for (const Range item : reader_.items(open)) {
      const std::string& code = reader_.code();
      if (code[item.begin] != '"' && code[item.begin] != '\'') {
        continue;
      }
      const std::size_t end = reader_.string_end(item.begin);
      const std::size_t value = reader_.solid(reader_.solid(end) + 1);
      superkernel::NpuOption option;
      option.key = code.substr(item.begin + 1, end - item.begin - 2);
      option.is_debug = is_debug;
      if (value >= item.end || code[value] == '{' || !read_value({value, item.end}, option)) {
        continue; // what is computed is not guessed
      }
      superkernel::Scope scope;
      scope.backend = Backend::npugraph_ex;
      scope.npu_options = {option};
      report(superkernel::parse_options(scope).problems, Backend::npugraph_ex, item.begin);
    }
  }

  bool read_value(Range range, superkernel::NpuOption& option) const {
    const std::string& code = reader_.code();
    if (code[range.begin] == '[') {
      option.is_list = true;
      for (const Range item : reader_.items(range.begin)) {
        const auto text = reader_.text(item);
        if (!text) {
          return false;
        }
        option.values.push_back(*text);
      }
      return true;
    }
    std::string plain = code.substr(range.begin, range.end - range.begin);
    plain.erase(plain.find_last_not_of(" \t\r\n") + 1);
    if (plain == "True" || plain == "False") {
      option.values = {plain == "True" ? "1" : "0"};
      return true;
    }
    if (!plain.empty() && plain.find_first_not_of("0123456789") == std::string::npos) {
      option.values = {plain};
      return true;
    }
    const auto text = reader_.text(range);
    option.values = {text.value_or("")};
    return text.has_value();
  }

  const std::filesystem::path& path_;
  PythonReader reader_;
  Findings& findings_;
};

} // namespace

void check_options(const SuperKernelRequest& request, Findings& findings) {
  for (const auto& path : request.files) {
    if (path.extension() != ".py") {
      continue;
    }
    const auto text = read_file(path);
    if (text && contains(*text, "super_kernel")) {
      OptionCheck(path, *text, findings).run();
    }
  }
}

} // namespace dcuop::check::ascend

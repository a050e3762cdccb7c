#include "conditions.hpp"

#include <charconv>
#include <limits>

namespace dcuop::source {
namespace {

constexpr int deepest = 60;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Recursive descent over the text; unsigned arithmetic is not distinguished, as conditions do not rely on it.
class Reader {
 public:
  Reader(std::string_view text, const Macros& macros, Asked& asked, int depth)
      : text_(text), macros_(macros), asked_(asked), depth_(depth) {}

  std::int64_t ternary() {
    const std::int64_t condition = binary(0);
    if (!take("?")) {
      return condition;
    }
    const std::int64_t yes = ternary();
    take(":");
    const std::int64_t no = ternary();
    return condition != 0 ? yes : no;
  }

 private:
  struct Operator {
    std::string_view sign;
    int level;
  };
  // Longer signs before those that they begin with.
  static constexpr Operator operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
                                           {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
                                           {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

  void skip() {
    while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) <= ' ' || text_[at_] == '\\')) {
      ++at_;
    }
  }
  bool take(std::string_view sign) {
    skip();
    if (text_.substr(at_).starts_with(sign)) {
      at_ += sign.size();
      return true;
    }
    return false;
  }
  const Operator* next_operator() {
    skip();
    for (const Operator& one : operators) {
      if (text_.substr(at_).starts_with(one.sign)) {
        return &one;
      }
    }
    return nullptr;
  }

  static std::int64_t applied(std::string_view sign, std::int64_t left, std::int64_t right) {
    const auto a = static_cast<std::uint64_t>(left);
    const auto b = static_cast<std::uint64_t>(right);
    const bool divides = right != 0 && !(right == -1 && left == std::numeric_limits<std::int64_t>::min());
    switch (sign[0]) {
    case '|':
      return sign.size() == 2 ? static_cast<std::int64_t>(left != 0 || right != 0) : left | right;
    case '&':
      return sign.size() == 2 ? static_cast<std::int64_t>(left != 0 && right != 0) : left & right;
    case '^':
      return left ^ right;
    case '=':
      return left == right ? 1 : 0;
    case '!':
      return left != right ? 1 : 0;
    case '<':
      if (sign == "<<") {
        return b < 64 ? static_cast<std::int64_t>(a << b) : 0;
      }
      return (sign == "<=" ? left <= right : left < right) ? 1 : 0;
    case '>':
      if (sign == ">>") {
        return b < 64 ? left >> b : 0;
      }
      return (sign == ">=" ? left >= right : left > right) ? 1 : 0;
    case '+':
      return static_cast<std::int64_t>(a + b);
    case '-':
      return static_cast<std::int64_t>(a - b);
    case '*':
      return static_cast<std::int64_t>(a * b);
    case '/':
      return divides ? left / right : 0;
    default:
      return divides ? left % right : 0;
    }
  }

  std::int64_t binary(int least) {
    std::int64_t left = unary();
    for (const Operator* one = next_operator(); one != nullptr && one->level > least; one = next_operator()) {
      at_ += one->sign.size();
      left = applied(one->sign, left, binary(one->level));
    }
    return left;
  }

  std::int64_t unary() {
    if (++depth_ > deepest) { // nobody writes that; a file that does must not end the program
      at_ = text_.size();
      return 0;
    }
    std::int64_t value = 0;
    if (take("!")) {
      value = unary() == 0 ? 1 : 0;
    } else if (take("-")) {
      value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(unary()));
    } else if (take("+")) {
      value = unary();
    } else if (take("~")) {
      value = ~unary();
    } else if (take("(")) {
      value = ternary();
      take(")");
    } else {
      value = primary();
    }
    --depth_;
    return value;
  }

  std::string_view word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || (text_[at_] == '\'' && at_ > begin))) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  /// What stands between the parenthesis here and its partner; both are passed.
  std::string_view parenthesised() {
    std::size_t depth = 0;
    const std::size_t begin = at_ + 1;
    for (; at_ < text_.size(); ++at_) {
      depth += text_[at_] == '(' ? 1U : 0U;
      if (text_[at_] == ')' && --depth == 0) {
        return text_.substr(begin, at_++ - begin);
      }
    }
    return text_.substr(std::min(begin, text_.size()));
  }

  const std::optional<std::string>* found(const std::string& name) {
    const auto macro = macros_.find(name);
    if (macro == macros_.end()) {
      asked_.names.insert(name);
      return nullptr;
    }
    return &macro->second;
  }

  std::int64_t primary() {
    const std::string name(word());
    if (name.empty()) {
      at_ = std::min(at_ + 1, text_.size());
      return 0;
    }
    if (name[0] >= '0' && name[0] <= '9') {
      const std::int64_t number = integer_literal(name).value_or(0);
      asked_.numbers.push_back(number);
      return number;
    }
    if (name == "true") {
      return 1;
    }
    skip();
    const bool is_call = at_ < text_.size() && text_[at_] == '(';
    if (name == "defined") {
      std::string_view asked = is_call ? parenthesised() : word();
      while (!asked.empty() && static_cast<unsigned char>(asked.front()) <= ' ') {
        asked.remove_prefix(1);
      }
      while (!asked.empty() && static_cast<unsigned char>(asked.back()) <= ' ') {
        asked.remove_suffix(1);
      }
      const auto* value = found(std::string(asked));
      return value != nullptr && value->has_value() ? 1 : 0;
    }
    const std::string whole = is_call ? name + "(" + std::string(parenthesised()) + ")" : name;
    const auto* value = found(whole);
    if (value == nullptr || !value->has_value() || depth_ > deepest / 2) {
      return 0;
    }
    return Reader(**value, macros_, asked_, depth_ + 8).ternary();
  }

  std::string_view text_;
  const Macros& macros_;
  Asked& asked_;
  int depth_;
  std::size_t at_ = 0;
};

} // namespace

std::optional<std::int64_t> integer_literal(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '\'') {
      digits += c;
    }
  }
  int base = 10;
  std::size_t begin = 0;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    begin = 2;
  } else if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B')) {
    base = 2;
    begin = 2;
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
    begin = 1;
  }
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data() + begin, end, value, base);
  if (error != std::errc()) {
    return base == 8 && digits.find_first_not_of("0uUlLzZ") == std::string::npos
               ? std::optional<std::int64_t>(0)
               : std::nullopt;
  }
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (suffix.find_first_not_of("uUlLzZ") != std::string_view::npos) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

bool condition_holds(std::string_view text, const Macros& macros, Asked& asked) {
  return Reader(text, macros, asked, 0).ternary() != 0;
}

} // namespace dcuop::source

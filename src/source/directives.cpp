#include "directives.hpp"

#include <algorithm>

namespace dcuop::source {
namespace {

constexpr std::size_t most_configurations = 12;
constexpr std::size_t most_trials = 400; // of a file

struct Open {
  bool outer = true; ///< what is around it is compiled
  bool done = false; ///< a branch was taken
  bool live = false;
};

/// A file is read in one configuration.
class Pass {
 public:
  Pass(const Lexed& lexed, const Dialect& dialect, const Macros& assumed)
      : lexed_(lexed), macros_(dialect.known) {
    for (const auto& [name, value] : assumed) {
      macros_[name] = value;
    }
    reading_.taken.resize(lexed.directives.size());
    reading_.asked.resize(lexed.directives.size());
  }

  Reading run() {
    for (std::size_t index = 0; index < lexed_.directives.size(); ++index) {
      const Directive& directive = lexed_.directives[index];
      if (live()) {
        add_live(directive.begin);
      }
      apply(index, directive);
      from_ = directive.end;
    }
    if (live()) {
      add_live(static_cast<Offset>(lexed_.bare.size()));
    }
    return std::move(reading_);
  }

 private:
  [[nodiscard]] bool live() const { return open_.empty() || open_.back().live; }
  void add_live(Offset end) {
    if (from_ < end) {
      reading_.live.emplace_back(from_, end);
    }
  }

  void branch(std::size_t index, Open& open) {
    open.live = open.outer && !open.done &&
                condition_holds(lexed_.directives[index].condition, macros_, reading_.asked[index]);
    open.done = open.done || open.live;
    reading_.taken[index] = open.live;
  }

  void apply(std::size_t index, const Directive& directive) {
    switch (directive.kind) {
    case Directive::Kind::begins:
      open_.push_back({live(), false, false});
      branch(index, open_.back());
      break;
    case Directive::Kind::otherwise:
      if (!open_.empty()) {
        branch(index, open_.back());
      }
      break;
    case Directive::Kind::ends:
      if (!open_.empty()) {
        open_.pop_back();
      }
      break;
    case Directive::Kind::define:
      if (live()) {
        reading_.defined.push_back(index);
        macros_[directive.macro.name] = directive.body;
      }
      break;
    case Directive::Kind::undefine:
      if (live()) {
        macros_[directive.macro.name] = std::nullopt;
      }
      break;
    case Directive::Kind::other:
      break;
    }
  }

  const Lexed& lexed_;
  Macros macros_;
  Reading reading_;
  std::vector<Open> open_;
  Offset from_ = 0;
};

bool is_branch(const Directive& directive) {
  return directive.kind == Directive::Kind::begins || directive.kind == Directive::Kind::otherwise;
}

/// The branch itself, the earlier ones of its chain, and the same of each chain around it: what must hold, or not.
std::vector<std::size_t> concerned(const Lexed& lexed, std::size_t target) {
  std::vector<std::vector<std::size_t>> open;
  for (std::size_t index = 0; index <= target; ++index) {
    const Directive& directive = lexed.directives[index];
    if (directive.kind == Directive::Kind::begins) {
      open.emplace_back();
    }
    if (is_branch(directive) && !open.empty()) {
      open.back().push_back(index);
    }
    if (directive.kind == Directive::Kind::ends && !open.empty()) {
      open.pop_back();
    }
  }
  std::vector<std::size_t> all;
  for (auto chain = open.rbegin(); chain != open.rend(); ++chain) {
    all.insert(all.end(), chain->rbegin(), chain->rend());
  }
  return all;
}

/// What the dialect decides by itself is no branch of this family of sources: one of the chains around it, or its own,
/// goes another way whatever else is defined.
bool is_excluded(const Lexed& lexed, const Dialect& dialect, std::size_t target) {
  Asked asked;
  bool taken = true;
  bool innermost = true; // of a chain: the branch itself; the others are before it
  for (const std::size_t index : concerned(lexed, target)) {
    const Directive& directive = lexed.directives[index];
    taken = taken && condition_holds(directive.condition, dialect.known, asked) == innermost;
    innermost = false;
    if (directive.kind == Directive::Kind::begins) {
      if (!taken && asked.names.empty()) {
        return true;
      }
      asked = {};
      taken = innermost = true;
    }
  }
  return false;
}

/// Values worth trying: not defined, 1, and what is beside the numbers that it is compared with.
std::vector<std::optional<std::string>> candidates(const Asked& asked) {
  std::vector<std::optional<std::string>> values = {"1", std::nullopt};
  for (const std::int64_t number : asked.numbers) {
    for (const std::int64_t near : {number, number - 1, number + 1}) {
      const std::string text = std::to_string(near);
      if (near >= 0 && values.size() < 8 && std::find(values.begin(), values.end(), text) == values.end()) {
        values.emplace_back(text);
      }
    }
  }
  return values;
}

/// Looks for assumptions under which one branch is compiled.
class Search {
 public:
  Search(const Lexed& lexed, const Dialect& dialect) : lexed_(lexed), dialect_(dialect) {}

  std::optional<Macros> reach(std::size_t target) {
    Macros assumed;
    // What an inner condition asks is known only when the outer ones hold: a few rounds.
    for (int round = 0; round < 4 && trials_ < most_trials; ++round) {
      const Reading reading = read_directives(lexed_, dialect_, assumed);
      if (reading.taken[target]) {
        return assumed;
      }
      Asked asked;
      const auto chain = concerned(lexed_, target);
      for (const std::size_t index : chain) {
        // Also what was not evaluated, because it lies in a branch that is not compiled.
        (void)condition_holds(lexed_.directives[index].condition, dialect_.known, asked);
      }
      if (auto found = combined(asked, target)) {
        return found;
      }
      break;
    }
    return std::nullopt;
  }

 private:
  std::optional<Macros> combined(const Asked& asked, std::size_t target) {
    const auto values = candidates(asked);
    std::vector<std::string> names(asked.names.begin(), asked.names.end());
    names.resize(std::min<std::size_t>(names.size(), 6));
    std::vector<std::size_t> chosen(names.size(), 1); // all undefined
    // Those near the base configuration first: one name that differs, then two, then all of them.
    for (std::size_t a = 0; a < names.size(); ++a) {
      for (std::size_t b = a; b < names.size(); ++b) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          for (std::size_t j = 0; j < (a == b ? 1 : values.size()); ++j) {
            auto trial = chosen;
            trial[b] = b == a ? trial[b] : j;
            trial[a] = i;
            if (auto found = tried(names, values, trial, target)) {
              return found;
            }
          }
        }
      }
    }
    return tried(names, values, std::vector<std::size_t>(names.size(), 0), target);
  }

  std::optional<Macros> tried(const std::vector<std::string>& names,
                              const std::vector<std::optional<std::string>>& values,
                              const std::vector<std::size_t>& chosen, std::size_t target) {
    if (++trials_ > most_trials) {
      return std::nullopt;
    }
    Macros assumed;
    for (std::size_t index = 0; index < names.size(); ++index) {
      if (const auto& value = values[chosen[index]]) {
        assumed[names[index]] = *value;
      }
    }
    if (read_directives(lexed_, dialect_, assumed).taken[target]) {
      return assumed;
    }
    return std::nullopt;
  }

  const Lexed& lexed_;
  const Dialect& dialect_;
  std::size_t trials_ = 0;
};

} // namespace

Reading read_directives(const Lexed& lexed, const Dialect& dialect, const Macros& assumed) {
  return Pass(lexed, dialect, assumed).run();
}

std::vector<Macros> configurations(const Lexed& lexed, const Dialect& dialect, std::vector<Offset>& unread) {
  std::vector<Macros> all = {{}};
  std::vector<bool> taken = read_directives(lexed, dialect, {}).taken;
  Search search(lexed, dialect);
  for (std::size_t index = 0; index < taken.size(); ++index) {
    if (taken[index] || !is_branch(lexed.directives[index])) {
      continue;
    }
    // What the dialect decides by itself is no branch of this family of sources.
    const auto found = search.reach(index);
    if (!found) {
      if (!is_excluded(lexed, dialect, index)) {
        unread.push_back(lexed.directives[index].begin);
      }
      continue;
    }
    if (all.size() >= most_configurations) {
      unread.push_back(lexed.directives[index].begin);
      continue;
    }
    all.push_back(*found);
    const auto also = read_directives(lexed, dialect, *found).taken;
    for (std::size_t other = 0; other < taken.size(); ++other) {
      taken[other] = taken[other] || also[other];
    }
  }
  return all;
}

} // namespace dcuop::source

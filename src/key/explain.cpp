#include "dcuop/key/explain.hpp"

#include <algorithm>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::key {

namespace {

/// Names are not unique: two compilers may each have a "linker ld". What both sides have, by content, is unchanged;
/// only what is left over is paired by name.
std::vector<Component> without_common(const Components& from, const Components& others) {
  std::vector<Component> left;
  for (const Component& component : from.all()) {
    const bool common = std::any_of(others.all().begin(), others.all().end(), [&](const Component& other) {
      return other.group == component.group && other.name == component.name &&
             other.digest == component.digest;
    });
    if (!common) {
      left.push_back(component);
    }
  }
  return left;
}

std::string quoted(const std::string& value) {
  return value.empty() ? "empty" : '"' + value + '"';
}

/// The words of a flag list that only one side has; order alone is said as such.
std::string flag_difference(const std::string& before, const std::string& now) {
  const std::vector<std::string> old_words = split(before, ' ');
  const std::vector<std::string> new_words = split(now, ' ');
  const auto only_in = [](const std::vector<std::string>& words, const std::vector<std::string>& others) {
    std::vector<std::string> only;
    for (const std::string& word : words) {
      if (std::find(others.begin(), others.end(), word) == others.end()) {
        only.push_back(word);
      }
    }
    return only;
  };
  const std::string removed = join(only_in(old_words, new_words), " ");
  const std::string added = join(only_in(new_words, old_words), " ");
  if (removed.empty() && added.empty()) {
    return "are in another order";
  }
  if (removed.empty()) {
    return "gained " + added;
  }
  return added.empty() ? "lost " + removed : "had " + removed + ", have " + added;
}

std::string change_of(const Component& before, const Component& now) {
  switch (now.group) {
  case Group::flag:
    return before.value == now.value ? "changed" : flag_difference(before.value, now.value);
  case Group::source:
  case Group::header:
  case Group::bitcode:
  case Group::library:
    return "changed";
  default:
    // The same words with another content: a part replaced by another of the same version.
    return before.value == now.value ? "changed (" + now.value + ", other content)"
                                     : "was " + quoted(before.value) + ", is " + quoted(now.value);
  }
}

/// A question that is answered otherwise now.
std::string change_of(const LookUp& before, const PathBase& base) {
  const std::string now = answer_now(before, base);
  switch (before.question) {
  case Question::link:
    return "pointed to " + before.answer + (now.empty() ? ", is no link" : ", points to " + now);
  case Question::may_run:
    return now == "yes" ? "may be run now" : "may not be run any more";
  case Question::same_file:
    return "was the same file as " + before.answer;
  case Question::program:
    return "was " + before.answer + " by PATH, is " + now;
  case Question::home:
    return "was " + quoted(before.answer) + ", is " + quoted(now);
  case Question::what_is_there:
    break;
  }
  if (before.answer == "nothing") {
    return "appeared";
  }
  return now == "nothing" ? "is gone" : "was a " + before.answer + ", is a " + now;
}

bool is_backend(const Component& component) {
  return component.group == Group::op && component.name == backend_component;
}

std::string alone(const Component& component, bool is_new) {
  if (is_backend(component)) { // of a HIP build there is none
    return is_new ? "was \"hip\", is " + quoted(component.value)
                  : "was " + quoted(component.value) + ", is \"hip\"";
  }
  if (component.group == Group::environment) {
    return is_new ? "was not set, is " + quoted(component.value)
                  : "was " + quoted(component.value) + ", is not set";
  }
  return is_new ? "is new" : "is gone";
}

} // namespace

std::vector<Difference> compare_components(const Components& before, const Components& now) {
  std::vector<Component> gone = without_common(before, now);
  std::vector<Difference> differences;
  for (const Component& component : without_common(now, before)) {
    const auto old = std::find_if(gone.begin(), gone.end(), [&](const Component& other) {
      return other.group == component.group && other.name == component.name;
    });
    if (old == gone.end()) {
      differences.push_back({component.group, component.name, alone(component, true)});
    } else {
      differences.push_back({component.group, component.name, change_of(*old, component)});
      gone.erase(old);
    }
  }
  for (const Component& component : gone) {
    differences.push_back({component.group, component.name, alone(component, false)});
  }
  // All others follow from that one.
  std::stable_partition(differences.begin(), differences.end(), [](const Difference& difference) {
    return difference.group == Group::op && difference.name == backend_component;
  });
  return differences;
}

std::vector<Difference> describe(const Comparison& comparison, const InputSet& set, const PathBase& base) {
  std::vector<Difference> differences;
  for (const Input& input : comparison.changed) {
    const bool gone = !identity_of(base.absolute(input.path));
    const std::vector<std::string> readers = set.readers_of(input);
    const bool by_link_alone = readers.size() == 1 && readers.front() == "link";
    differences.push_back({by_link_alone ? Group::library : Group::header, input.path,
                           std::string(gone ? "is gone" : "changed") +
                               (readers.empty() ? "" : ", read by " + join(readers, " and "))});
  }
  for (const LookUp& look_up : comparison.answers) {
    differences.push_back({Group::search, look_up.subject, change_of(look_up, base)});
  }
  for (const std::string& directory : comparison.shadowed) {
    differences.push_back({Group::search, directory, "has or lost a name that an include could mean"});
  }
  return differences;
}

std::string summary(const std::vector<Difference>& differences) {
  if (differences.empty()) {
    return {};
  }
  const Difference& first = differences.front();
  const std::string more =
      differences.size() == 1 ? "" : " and " + std::to_string(differences.size() - 1) + " more";
  const std::string clause = first.text.substr(0, first.text.find(", read by"));
  return first.name + " " + clause + more;
}

} // namespace dcuop::key

#pragma once
// What names mean in the sources of an Ascend operator: classes and their bases, kinds of objects, who is called.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sources.hpp"

namespace dcuop::check::ascend {

/// Of what an expression is, as far as rules ask.
enum class Kind { unknown, global_tensor, local_tensor, pipe, queue, matmul, gm_pointer, other };

/// A local variable; `begin` and `end` are the block in which it can be named.
struct Local {
  Offset at = 0, end = 0;
  Kind kind = Kind::unknown;
  std::string type;
};

class Names {
 public:
  explicit Names(const source::Model& model);

  const source::Model& model;

  /// "A" of a function that is a member of A; "" of others.
  [[nodiscard]] std::string class_of(const Function& function) const;
  /// The class and those that it derives from, itself first.
  [[nodiscard]] std::vector<std::string> with_bases(const std::string& name) const;
  [[nodiscard]] bool is_class(std::string_view name) const { return classes_.contains(name); }
  [[nodiscard]] Kind kind_of(Node expression, const Function& function) const;
  /// The class of an object; "" when it is none of the sources'.
  [[nodiscard]] std::string class_of_object(Node expression, const Function& function) const;
  /// The definitions that a call may mean; unlike Model::callees() it looks at classes.
  [[nodiscard]] const std::vector<const Function*>& callees(const Call& call, const Function& in) const;
  [[nodiscard]] const std::map<std::string, std::vector<Local>, std::less<>>&
  locals_of(const Function& function) const;
  /// Local variables that are other names for a tensor or pointer -> what they were given last.
  [[nodiscard]] const std::map<std::string, Node, std::less<>>& aliases_of(const Function& function) const;
  /// Whether __gm__ stands in a range of the text that a function is in.
  [[nodiscard]] static bool has_gm_mark(const Function& function, Offset begin, Offset end);

 private:
  void read_classes(const File& file);
  [[nodiscard]] std::vector<const Function*> find_callees(const Call& call, const Function& in) const;
  [[nodiscard]] Kind kind_of_type(std::string_view type, int depth = 0) const;
  [[nodiscard]] Kind kind_of_name(std::string_view name, Offset at, const Function& function) const;
  [[nodiscard]] Kind kind_of_member(std::string_view name, const Function& function) const;
  [[nodiscard]] Kind kind_of_call(Node node, const Function& function) const;
  [[nodiscard]] std::string type_of_name(std::string_view name, Offset at, const Function& function) const;
  [[nodiscard]] std::string class_in(std::string_view type, int depth = 0) const;

  struct Member {
    std::string type;
    Kind kind = Kind::unknown;
  };
  std::map<std::string, std::vector<std::string>, std::less<>> classes_; ///< -> bases
  std::map<std::string, std::string, std::less<>> aliases_;
  std::map<std::string, std::map<std::string, Member, std::less<>>, std::less<>> members_; ///< class -> name
  std::map<std::string, std::set<Kind>, std::less<>> any_member_; ///< of whatever class
  mutable std::map<std::tuple<const source::Tree*, Offset, Offset>, std::vector<const Function*>> callees_;
  mutable std::map<const Function*, std::map<std::string, std::vector<Local>, std::less<>>> locals_;
  mutable std::map<const Function*, std::map<std::string, Node, std::less<>>> local_aliases_;
};

/// "AscendC::SyncAll" and plain names are Ascend C's where the sources define none of their own.
[[nodiscard]] bool is_api(const Call& call, std::string_view name);
/// The text with runs of space as one.
[[nodiscard]] std::string one_line(std::string_view text);

} // namespace dcuop::check::ascend

#pragma once
// What a rule asks of sources: functions and their calls, declared types, constants, and what was not understood.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "dcuop/source/mask.hpp"
#include "dcuop/source/syntax.hpp"

namespace dcuop::source {

struct Place {
  std::size_t line = 1, column = 1; ///< in bytes
};

struct Parameter {
  std::string name; ///< empty when it has none
  std::string type; ///< with what belongs to the declarator: "const at::Tensor&", "float*"
  Node default_value;
};

struct File;

/// A call, a launch with <<<>>> included; or a variable that is made from arguments, of which the name is the type's.
struct Call {
  Node node;
  std::string name;      ///< the last: "SyncAll", "data_ptr"
  std::string qualified; ///< as written, without template arguments: "AscendC::SyncAll", "x.data_ptr"
  Node receiver;         ///< what stands before . or ->
  const File* file = nullptr;
  std::vector<Node> template_arguments;
  std::vector<Node> arguments; ///< of <<<>>>: those in the parentheses
  std::vector<Node> launch;    ///< of <<<>>>: those between the signs
  [[nodiscard]] Offset at() const { return node.begin(); }
};

struct Function;
/// Which of a function's parameters an argument becomes, by its index; what a pack takes becomes the pack, and what
/// torch::autograd::Function::apply() is given becomes forward()'s, behind its context.
[[nodiscard]] std::size_t parameter_index(const Call& call, const Function& callee, std::size_t argument);

/// A definition. Those that look the same in several configurations are one.
struct Function {
  std::string name;  ///< the last
  std::string scope; ///< "A::B" of the class or namespace in which it is, as far as it has names
  std::string returns;
  std::vector<Parameter> parameters;
  std::vector<Mark> marks; ///< its qualifiers: "__global__"
  Node node, body;
  const File* file = nullptr;
  std::vector<const Variant*> variants; ///< that have it
  std::vector<Call> calls;              ///< in the order of the text
  bool is_macro = false;                ///< the body of a #define; parameters have no types
  bool is_object_like = false;          ///< of a macro: it has no parentheses
  bool is_lambda = false;               ///< its name is the variable's; "lambda" of one without
  const Function* outer = nullptr;      ///< of a lambda: the function that it stands in

  [[nodiscard]] bool has_mark(std::string_view mark) const;
  /// It is read without assumptions.
  [[nodiscard]] bool in_base_configuration() const;
  [[nodiscard]] const Parameter* parameter(std::string_view parameter_name) const;
};

struct File {
  std::filesystem::path path; ///< absolute
  std::string text;           ///< as it lies on disk
  std::filesystem::path directory;
  bool is_included = false; ///< outside of what was asked for; read because something there includes it
  Masked masked;
  std::vector<std::unique_ptr<Tree>> trees; ///< by variant; those of macros behind them
  std::vector<std::pair<Offset, Offset>> not_understood;
  std::string fault; ///< why nothing of it was read; empty when it was

  [[nodiscard]] Place place(Offset at) const;
  [[nodiscard]] std::string_view line_text(std::size_t line) const;
  /// The part of its bytes that the parser could not place, 0 to 1.
  [[nodiscard]] double damage() const;

  std::vector<Offset> line_starts;
};

/// A variable or member that is not local to a function.
struct Declared {
  std::string name;
  std::string scope; ///< class or namespace
  std::string type;
  std::vector<Mark> marks;
  Node node;
  const File* file = nullptr;
};

/// What a name that is constant was given.
struct Constant {
  Node value;
  const File* file = nullptr;
};

/// Sources that belong together: those of an operator's directory.
class Model {
 public:
  struct Request {
    std::vector<std::filesystem::path> files;
    std::vector<std::filesystem::path> include_dirs; ///< where quoted names are looked for, besides
    const Dialect* dialect = nullptr;                ///< hip_dialect() when null
    unsigned threads = 1;
  };
  /// Reads, masks and parses; a file that cannot be read, or not be parsed, says so in its `fault`.
  [[nodiscard]] static Model read(const Request& request);

  [[nodiscard]] const std::vector<std::unique_ptr<File>>& files() const { return files_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Function>>& functions() const { return functions_; }
  [[nodiscard]] const std::vector<Declared>& declared() const { return declared_; }
  /// #define NAME text, where the text is more than a literal.
  [[nodiscard]] const std::vector<std::unique_ptr<Function>>& object_macros() const { return object_macros_; }
  /// What a name without parentheses stands for, as `from` sees it; null when it is no such macro.
  [[nodiscard]] const Function* object_macro(std::string_view name, const File* from) const;
  /// The same, where it is only another name for one.
  [[nodiscard]] const Function* last_object_macro(std::string_view name, const File* from) const;
  /// The name that a name stands for: __syncthreads, where BLOCK_SYNC is defined as that.
  [[nodiscard]] std::string meant(std::string_view name, const File* from) const;
  /// Lambdas in functions; their calls are those functions' too.
  [[nodiscard]] const std::vector<std::unique_ptr<Function>>& lambdas() const { return lambdas_; }

  /// Definitions (macros too) of that last name.
  [[nodiscard]] std::vector<const Function*> named(std::string_view name) const;
  /// The nearest of them to a file: see callees().
  [[nodiscard]] std::vector<const Function*> named(std::string_view name, const File* from) const;
  /// Those that a call may mean, by its name and its number of arguments: of its file, else of that file's directory and
  /// below, else of the directory above, and so on, as operators beside one another use the same names. Of a variable or
  /// parameter that is called: the lambdas (and functions, and operators ()) that it may hold.
  [[nodiscard]] const std::vector<const Function*>& callees(const Call& call) const;
  /// Of a variable or parameter that is called, and nothing else.
  [[nodiscard]] const std::vector<const Function*>& held(const Call& call) const;
  /// Of a lambda expression; null when it is none of a function of the sources.
  [[nodiscard]] const Function* lambda(Node node) const;
  /// The same of variables that a call is given.
  [[nodiscard]] const std::vector<const Function*>& handed(const Call& call) const;

  /// The type that a name was declared with, seen from a place in `function`; "" when it is not known. Locals go before
  /// parameters, members of the function's class before other names.
  [[nodiscard]] std::string type_of(std::string_view name, const Function& function) const;
  /// The same of an expression that is a name, a member or an element.
  [[nodiscard]] std::string type_of(Node expression, const Function& function) const;

  /// The value of a constant expression, seen from `function`; nullopt when it is not known, or two constants that are
  /// equally near share a name.
  [[nodiscard]] std::optional<std::int64_t> fold(Node expression, const Function* function = nullptr) const;

 private:
  void collect(File& file);
  void collect_macros(File& file, const Variant& variant,
                      const std::function<void(std::unique_ptr<Function>)>& add);
  void index();
  void index_lambdas();
  friend class LambdaLinks;

  std::vector<std::unique_ptr<File>> files_;
  std::vector<std::unique_ptr<Function>> functions_, object_macros_, lambdas_;
  std::vector<Declared> declared_;
  /// Those of one name.
  struct Named {
    std::vector<const Function*> all;
    std::map<const File*, std::vector<const Function*>> of_file;
    std::map<std::string, std::vector<const Function*>> of_directory; ///< and below
  };
  void add_taking(const Call& call, const std::vector<const Function*>& among,
                  std::vector<const Function*>& into) const;
  [[nodiscard]] std::vector<const Function*> forward_of(const Call& call) const;

  /// Calls, by tree, begin and end.
  using ByCall = std::map<std::tuple<const Tree*, Offset, Offset>, std::vector<const Function*>>;

  std::map<std::string, Named, std::less<>> by_name_;
  std::map<std::string, std::vector<const Function*>, std::less<>> object_macros_by_name_;
  ByCall held_, handed_;
  std::map<std::pair<const Tree*, Offset>, const Function*> lambda_by_node_;
  std::multimap<std::string, const Declared*, std::less<>> declared_by_name_;
  std::multimap<std::string, Constant, std::less<>> constants_;
  /// What callees() has answered, by name, number of arguments and file; a model is asked by one thread. Of apply(),
  /// the name is the qualified one.
  mutable std::map<std::tuple<std::string, std::size_t, const File*>, std::vector<const Function*>> callees_;
};

/// The last name of what is called or named: "foo" of a::b::foo<int>, of x.foo, of (foo).
[[nodiscard]] std::string last_name(Node expression);
/// The call that a node is (a construction: the declarator); an empty name when it is none that has a name.
[[nodiscard]] Call call_of(Node node, const Variant& variant);
/// Of a declarator: the name that it declares, below pointers, references, arrays and initialisers.
[[nodiscard]] Node declared_name(Node declarator);
/// The first name of an expression: x of x.a[3]->b, *x, &x, (T)x, x + 1.
[[nodiscard]] std::string base_name(Node expression);
/// Every identifier in an expression, fields' names left out.
[[nodiscard]] std::vector<Node> identifiers(Node expression);

} // namespace dcuop::source

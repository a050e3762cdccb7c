#pragma once
// How values differ among those that run a kernel: within a function, and through the functions that it calls.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dcuop/source/model.hpp"

namespace dcuop::source {

struct Variance {
  bool thread = false; ///< among the threads of a block
  bool block = false;  ///< among the blocks of a grid (cores of a launch)
  Variance& operator|=(Variance other) {
    thread = thread || other.thread;
    block = block || other.block;
    return *this;
  }
  Variance& operator&=(Variance other) {
    thread = thread && other.thread;
    block = block && other.block;
    return *this;
  }
  bool operator==(const Variance&) const = default;
  [[nodiscard]] bool any() const { return thread || block; }
};
using Variances = std::map<std::string, Variance, std::less<>>; ///< by a variable's name

/// Names (of variables and of functions) whose values differ from the start.
using VarianceSeeds = Variances;
[[nodiscard]] const VarianceSeeds& hip_seeds();

/// What functions give back that differs whatever they are given: by `return`, and in parameters that are references.
class Results {
 public:
  using Callees = std::function<const std::vector<const Function*>&(const Call&, const Function&)>;
  Results(const Model& model, Callees callees) : model_(model), callees_(std::move(callees)) {}

  struct Result {
    Variance returned;
    std::vector<Variance> parameters; ///< by index
    bool operator==(const Result&) const = default;
  };
  /// Whether that is new.
  bool set(const Function& function, Result result);
  /// Of a name in `function` that may be a call, or a macro without parameters.
  [[nodiscard]] Variance of_name(Node name, const Function& function) const;
  /// Members of a class, by their names.
  void set_members(const std::string& scope, const Variances& members);
  /// Of a field of an object whose class is known.
  [[nodiscard]] Variance of_field(Node field, const Function& function) const;
  /// Calls `give(argument, Variance)` for each argument of a call that the callee sets to what differs.
  void each_given(Node call, const Function& function, const std::function<void(Node, Variance)>& give) const;

 private:
  [[nodiscard]] bool is_known(std::string_view name) const { return names_.contains(name); }
  const Model& model_;
  Callees callees_;
  std::map<const Function*, Result> results_;
  std::set<std::string, std::less<>> names_, fields_;
  std::map<std::string, Variances> members_; ///< by class
};

/// The variance of a function's variables, whatever the order of its statements. What lies in memory that threads share
/// is taken to be the same for all of them; parameters, and members that it names, as `given` says.
class VarianceTable {
 public:
  VarianceTable(const Function& function, const VarianceSeeds& seeds, const Variances& given = {},
                const Results* results = nullptr);
  [[nodiscard]] Variance of(Node expression) const { return of(expression, {}); }
  /// With names that stand for something else there: the parameters of a macro.
  [[nodiscard]] Variance of(Node expression, const Variances& instead) const;
  /// What the function returns, and leaves in its parameters.
  [[nodiscard]] Results::Result result() const;
  [[nodiscard]] const Variances& names() const { return names_; }

 private:
  [[nodiscard]] std::set<std::string, std::less<>> shared_names() const;
  [[nodiscard]] bool take(std::string name, Variance value);
  [[nodiscard]] bool read_once(const std::set<std::string, std::less<>>& shared);

  const Function& function_;
  const VarianceSeeds& seeds_;
  const Results* results_;
  Variances names_;
};

/// The same of all device functions of a model: parameters are what callers hand over, members what any method gives
/// them, calls what the called functions return.
class ModelVariance {
 public:
  ModelVariance(const Model& model, const VarianceSeeds& seeds);

  /// Of a function that runs on the device (or a macro).
  [[nodiscard]] const VarianceTable& of(const Function& function) const;

 private:
  void process(const Function& function);
  void ask_again(const Function* function);
  void spread_arguments(const Function& function, const VarianceTable& table);
  void spread_members(const Function& function, const VarianceTable& table);
  [[nodiscard]] Variances members_of(const Function& function) const;

  const Model& model_;
  const VarianceSeeds& seeds_;
  Results results_;
  std::map<const Function*, std::set<const Function*>> callers_;
  std::map<std::string, std::set<const Function*>> users_; ///< of a macro without parameters, of a field
  std::map<std::string, std::set<std::string, std::less<>>> member_names_; ///< by class
  std::set<std::string, std::less<>> all_members_;
  std::map<std::string, std::vector<const Function*>> methods_;
  std::map<const Function*, Variances> parameters_;
  std::map<std::string, Variances> members_;
  std::map<const Function*, std::unique_ptr<VarianceTable>> tables_;
  std::deque<const Function*> waiting_;
  std::set<const Function*> is_waiting_;
};

/// It runs on the device, or is a macro that may.
[[nodiscard]] bool is_device_code(const Function& function);

} // namespace dcuop::source

#pragma once
// What the rules share: who launches what, what is bound to Python, and how a finding is put down.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/check/check.hpp"
#include "dcuop/source/model.hpp"
#include "dcuop/source/variance.hpp"

namespace dcuop::check {

using source::Call;
using source::File;
using source::Function;
using source::Node;
using source::Offset;

constexpr Offset nowhere = static_cast<Offset>(-1);

/// A function that Python can call.
struct Binding {
  const Function* function = nullptr;
  bool is_dispatched = false; ///< by torch's dispatcher, for tensors of a device
};

/// A kernel launch in the sources.
struct LaunchSite {
  const Function* in = nullptr;
  const Call* call = nullptr;
  std::string kernel;       ///< its last name
  Node grid, block, stream; ///< nothing when not given
  bool is_cooperative = false;
  std::vector<Node> arguments; ///< of the kernel; none when they are not in the call
};

class Sources {
 public:
  Sources(const Request& request, const source::Model& model);

  const Request& request;
  const source::Model& model;
  std::vector<LaunchSite> launches;
  std::vector<Binding> bindings;
  std::set<const Function*> kernels; ///< __global__

  /// Launches itself, or calls what does.
  [[nodiscard]] bool launches_something(const Function& function) const {
    return launching_.contains(&function);
  }
  [[nodiscard]] const std::set<const Function*>& callers_of(const Function& function) const;
  /// The first call in a function that launches; nothing when none does.
  [[nodiscard]] Node first_launch(const Function& function) const;
  /// It launches, or gives memory of tensors to a function that sounds as if it did and is not among the sources.
  [[nodiscard]] bool hands_memory_on(const Function& function) const;
  [[nodiscard]] const std::vector<const LaunchSite*>& launches_in(const Function& function) const;
  [[nodiscard]] const std::vector<const LaunchSite*>& launches_of(const std::string& kernel) const;
  /// The function and what it calls, itself first.
  [[nodiscard]] const std::vector<const Function*>& reached_from(const Function& function) const;
  /// Whether any of its calls, or of those that it reaches, satisfies `wanted`.
  template <class Wanted> [[nodiscard]] bool any_call(const Function& function, Wanted wanted) const {
    for (const Function* one : reached_from(function)) {
      for (const Call& call : one->calls) {
        if (wanted(call)) {
          return true;
        }
      }
    }
    return false;
  }
  [[nodiscard]] bool is_program(const File& file) const; ///< has a main()
  [[nodiscard]] bool uses_torch(const File& file) const;
  [[nodiscard]] bool has_torch() const { return has_torch_; }
  /// Of device code, among threads and blocks.
  [[nodiscard]] const source::ModelVariance& variance() const;

 private:
  void find_launches();
  void find_launching();
  std::set<const Function*> launching_;
  std::map<const Function*, std::set<const Function*>> callers_;
  std::map<const Function*, std::vector<const LaunchSite*>> launches_in_;
  std::map<std::string, std::vector<const LaunchSite*>> launches_of_;
  mutable std::map<const Function*, std::vector<const Function*>> reached_;
  mutable std::unique_ptr<source::ModelVariance> variance_;
  bool has_torch_ = false;
};

/// Where findings go; one of a rule, a place and a text is kept once.
class Findings {
 public:
  explicit Findings(const Request& request) : request_(request) {}

  /// `values` lacks {file} and {at}, which are filled in.
  finding::Finding& add(std::string_view rule, const File& file, Offset at, finding::Values values = {});
  finding::Finding& add(std::string_view rule, const std::filesystem::path& path, std::size_t line,
                        finding::Values values = {});
  /// One that another layer made, without a place.
  finding::Finding& add(finding::Finding made, const std::filesystem::path& path, source::Place place);
  [[nodiscard]] std::string shown(const std::filesystem::path& path) const;
  /// Puts the tensors of the code in the place of those that the fix in the table speaks of: {{"x", "input"}} makes
  /// "x.is_contiguous()" "input.is_contiguous()".
  static void name_in_fix(finding::Finding& finding, const std::map<std::string, std::string>& names);
  template <class Predicate> void remove_if(Predicate predicate) {
    std::erase_if(all, predicate);
    places_.clear();
  }
  std::vector<finding::Finding> all;

 private:
  finding::Finding& put(finding::Finding made, std::size_t line, std::size_t column);
  const Request& request_;
  /// By rule, file, line and text: where in `all`.
  std::map<std::tuple<std::string, std::string, std::size_t, std::string>, std::size_t> places_;
};

/// What def() and impl() name: functions, lambdas, methods, in whatever is put around them.
[[nodiscard]] std::vector<Binding> find_bindings(const source::Model& model);

void check_bindings(const Sources& sources, Findings& findings);
void check_launches(const Sources& sources, Findings& findings);
void check_kernels(const Sources& sources, Findings& findings);
void check_off_by_one(const Sources& sources, Findings& findings);
void check_barriers(const Sources& sources, Findings& findings);
void check_grid(const Sources& sources, Findings& findings);
void check_streams(const Sources& sources, Findings& findings);
void check_reading(const Request& request, const source::Model& model, Findings& findings);

enum class Family { hip, ascend };
/// Findings that a comment allows are taken out; what is wrong with such comments is added. Returns how many were.
std::size_t apply_allowances(const source::Model& model, const Request& request, Family family,
                             Findings& findings);
/// The C++ files of a request.
[[nodiscard]] source::Model read_model(const Request& request, const source::Dialect& dialect);
/// Findings that are not allowed, and what was read.
[[nodiscard]] Report report_of(const Request& request, const source::Model& model, Family family,
                               Findings& findings);
[[nodiscard]] std::vector<ChecklistItem> check_release(const Sources& sources, Findings& findings);

[[nodiscard]] bool is_any_of(std::string_view text, std::initializer_list<std::string_view> all);
[[nodiscard]] bool contains(std::string_view text, std::string_view part);
[[nodiscard]] bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts);
/// The nearest node above of that type, or nothing.
[[nodiscard]] Node enclosing(Node node, std::string_view type);
[[nodiscard]] bool is_tensor(std::string_view type);
/// Of several: at::TensorList, std::vector<at::Tensor>; not lists of lists.
[[nodiscard]] bool is_tensor_list(std::string_view type);

} // namespace dcuop::check

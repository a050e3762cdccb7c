#include "scalar_buffers.hpp"

#include <algorithm>
#include <optional>

namespace dcuop::cli {
namespace {

using source::Call;
using source::Function;
using source::Node;
using Parameters = std::set<std::string>;
/// What a name holds: addresses that came from parameters of the kernel.
using Holders = std::map<std::string, Parameters, std::less<>>;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The parameters that tiling and workspace are handed over in.
bool is_private(const std::string& parameter) {
  return contains(parameter, "workspace") || contains(parameter, "Workspace") ||
         contains(parameter, "tiling") || contains(parameter, "Tiling");
}

class Follower {
 public:
  Follower(const source::Model& model, const Function& kernel) : model_(model) {
    for (const source::Parameter& parameter : kernel.parameters) {
      if (!is_private(parameter.name)) {
        parameters_[parameter.name] = {parameter.name};
      }
    }
    // Twice: what one function hands to a member, another may have used before in the text.
    for (int round = 0; round < 2; ++round) {
      visited_.clear();
      follow(kernel, parameters_);
    }
  }

  [[nodiscard]] const ScalarBuffers& found() const { return found_; }

 private:
  void follow(const Function& function, Holders holders) {
    if (!visited_.emplace(&function, holders).second || visited_.size() > most_visits) {
      return;
    }
    function.body.each([&](Node node) {
      if (node.is("init_declarator")) {
        const Parameters value = held_by(node.child("value"), holders);
        if (!value.empty()) {
          holders[std::string(source::declared_name(node).text())] = value;
        }
      } else if (node.is("assignment_expression") && is_address(node.child("left"), function)) {
        const std::string name = source::last_name(node.child("left"));
        const Parameters value = held_by(node.child("right"), holders);
        Parameters& into = holders.count(name) != 0 ? holders[name] : members_[name];
        into.insert(value.begin(), value.end());
      }
    });
    for (const Call& call : function.calls) {
      look_at(function, call, holders);
    }
  }

  /// gGm_ = rGm_[rows]; p = (__gm__ float*)x
  [[nodiscard]] bool is_address(Node name, const Function& function) const {
    const std::string type = model_.type_of(name, function);
    return name.is("identifier") &&
           (contains(type, "GlobalTensor") || contains(type, "GM_ADDR") || contains(type, "*"));
  }

  void look_at(const Function& function, const Call& call, const Holders& holders) {
    if (call.name == "SetGlobalBuffer" && !call.arguments.empty()) {
      const Parameters value = held_by(call.arguments.front(), holders);
      members_[source::last_name(call.receiver)].insert(value.begin(), value.end());
      return;
    }
    if ((call.name == "GetValue" || call.name == "SetValue") && call.receiver) {
      if (!contains(model_.type_of(call.receiver, function), "LocalTensor")) {
        note(call.name == "SetValue", held_by(call.receiver, holders));
      }
      return;
    }
    if (!call.receiver && contains(model_.type_of(call.name, function), "GlobalTensor")) {
      note_element(call, holders);
      return;
    }
    for (const Function* callee : model_.callees(call)) {
      follow(*callee, handed_to(*callee, call, holders));
    }
  }

  /// gm(i), gm(i) = x, gm(i) += x, gm(i)++.
  void note_element(const Call& call, const Holders& holders) {
    const Parameters value = named(call.name, holders);
    const Node above = call.node.parent();
    const bool is_changed = above.is("update_expression");
    const bool is_assigned = above.is("assignment_expression") && above.child("left") == call.node;
    if (is_changed || is_assigned) {
      note(true, value);
    }
    if (!is_assigned || above.child("operator").text() != "=") {
      note(false, value);
    }
  }

  void note(bool writes, const Parameters& parameters) {
    (writes ? found_.writes : found_.reads).insert(parameters.begin(), parameters.end());
  }

  [[nodiscard]] Holders handed_to(const Function& callee, const Call& call, const Holders& holders) const {
    Holders inner;
    for (std::size_t index = 0; index < call.arguments.size(); ++index) {
      const std::size_t at = source::parameter_index(call, callee, index);
      const Parameters value = held_by(call.arguments[index], holders);
      if (at < callee.parameters.size() && !value.empty()) {
        inner[callee.parameters[at].name] = value;
      }
    }
    return inner;
  }

  [[nodiscard]] Parameters named(std::string_view name, const Holders& holders) const {
    for (const Holders* one : {&holders, &members_}) {
      if (const auto found = one->find(name); found != one->end()) {
        return found->second;
      }
    }
    return {};
  }

  /// Of the first name in an expression that holds anything: an address, before what is added to it.
  [[nodiscard]] Parameters held_by(Node expression, const Holders& holders) const {
    Parameters value = named(source::last_name(expression), holders);
    expression.each([&](Node node) {
      if (value.empty() && (node.is("identifier") || node.is("field_identifier"))) {
        value = named(node.text(), holders);
      }
    });
    return value;
  }

  static constexpr std::size_t most_visits = 4000;
  const source::Model& model_;
  Holders parameters_;
  Holders members_;
  std::set<std::pair<const Function*, Holders>> visited_;
  ScalarBuffers found_;
};

/// The kernel that stands at "op_kernel/hc_pre.cpp:12" below the directory.
const Function* kernel_at(const source::Model& model, const std::filesystem::path& directory,
                          const std::string& place) {
  for (const auto& function : model.functions()) {
    const source::File& file = *function->file;
    const std::string line = std::to_string(file.place(function->node.begin()).line);
    if (directory / (place.substr(0, place.rfind(':'))) == file.path &&
        place.substr(place.rfind(':') + 1) == line) {
      return function.get();
    }
  }
  return nullptr;
}

void place(const std::set<std::string>& parameters, const superkernel::Operator& op,
           std::set<std::string>& buffers, std::set<std::string>& unplaced) {
  for (const std::string& parameter : parameters) {
    const auto found = op.gm.tensors.find(parameter);
    buffers.insert(found == op.gm.tensors.end() ? op.name + "." + parameter : found->second);
    if (found == op.gm.tensors.end()) {
      unplaced.insert(parameter);
    }
  }
}

} // namespace

ScalarBuffers scalar_buffers_of(const source::Model& model, const Function& kernel) {
  return Follower(model, kernel).found();
}

std::map<std::string, ScalarBuffers> fill_buffers(const check::SuperKernelRequest& request,
                                                  const check::FilledScope& filled,
                                                  superkernel::Scope& scope) {
  std::map<std::string, ScalarBuffers> found;
  source::Model::Request wanted;
  std::copy_if(request.files.begin(), request.files.end(), std::back_inserter(wanted.files),
               [](const auto& path) { return path.extension() != ".py"; });
  wanted.include_dirs = request.include_dirs;
  wanted.dialect = &source::ascend_dialect();
  wanted.threads = request.threads;
  std::optional<source::Model> model;
  for (superkernel::Operator& op : scope.operators) {
    const auto read = std::find_if(filled.read.begin(), filled.read.end(),
                                   [&](const auto& one) { return one.op == op.name; });
    if (read == filled.read.end() || op.given.count("gm.reads") != 0 || op.given.count("gm.writes") != 0) {
      continue;
    }
    if (!model) {
      model = source::Model::read(wanted);
    }
    const Function* kernel = kernel_at(*model, request.directory, read->kernel);
    if (kernel == nullptr) {
      continue;
    }
    ScalarBuffers& buffers = found[op.name] = scalar_buffers_of(*model, *kernel);
    place(buffers.reads, op, op.gm.reads, op.gm.unplaced);
    place(buffers.writes, op, op.gm.writes, op.gm.unplaced);
  }
  for (const auto& one : filled.scalars) {
    const auto is_it = [&](const superkernel::Operator& op) { return op.name == one.op; };
    const auto op = std::find_if(scope.operators.begin(), scope.operators.end(), is_it);
    op->gm.frequent = !op->gm.reads.empty() || !op->gm.writes.empty();
  }
  return found;
}

} // namespace dcuop::cli

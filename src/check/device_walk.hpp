#pragma once
// Every call that a kernel or device function evaluates, with the conditions that decide it; macros are walked where they
// are used.

#include <functional>
#include <vector>

#include "dcuop/source/paths.hpp"
#include "sources.hpp"

namespace dcuop::check {

class DeviceWalk {
 public:
  using Visit = std::function<void(const Call&, const source::Guards&)>;
  DeviceWalk(const Sources& sources, const Function& function);

  void run(const Visit& visit);

  /// Of a condition that was passed, or of an expression here.
  [[nodiscard]] source::Variance of(Node expression) const;
  /// Where a call stands in the function: of one in a macro, the macro's use.
  [[nodiscard]] Node place(const Call& call) const { return uses_.empty() ? call.node : uses_.front().at; }
  /// The name that stands there.
  [[nodiscard]] std::string name_at(const Call& call) const {
    return uses_.empty() ? call.name : uses_.front().macro->name;
  }

  // What PathWalk asks for.
  void visit(Node expression, bool&, const source::Guards& guards);
  static bool joined(bool a, bool) { return a; }
  void leaves(Node, bool, const source::Guards&) {}
  [[nodiscard]] const Function* expands(Node statement) const;
  void enters(const Function& macro, Node use);
  void comes_back() { uses_.pop_back(); }

 private:
  struct Use {
    const Function* macro = nullptr;
    Node at;
    source::Variances parameters;
  };
  [[nodiscard]] const File* file() const { return uses_.empty() ? function_.file : uses_.back().macro->file; }
  [[nodiscard]] source::Variance here(Node expression) const;

  const Sources& sources_;
  const Function& function_;
  const source::VarianceTable& table_;
  const Visit* visit_ = nullptr;
  std::vector<Use> uses_;
  /// Of conditions, as they were where they were passed; a macro's parameters are known there alone.
  std::map<std::tuple<const source::Tree*, Offset, Offset>, source::Variance> passed_;
};

} // namespace dcuop::check

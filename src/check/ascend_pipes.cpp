// DCU870: inside a SuperKernel the end of a TPipe waits for nothing.
#include "ascend.hpp"

namespace dcuop::check::ascend {
namespace {

using finding::Severity;
using EventKind = Event::Kind;

struct Pipes {
  const Event* ended = nullptr; ///< and nothing has waited since
  std::string object;
  bool on_every_path = true;  ///< of those that come here
  bool is_drained = false;    ///< nothing was issued since all pipes were waited for
  std::set<std::string> gone; ///< destroyed: the end of their block does nothing more
};

class Follower {
 public:
  Follower(const Subject& subject, const Kernel& kernel) : subject_(subject), kernel_(kernel) {}

  void event(const Event& event, const std::string& object, Pipes& pipes, const Way&) {
    switch (event.kind) {
    case EventKind::drain:
    case EventKind::sync_all:
    case EventKind::soft_sync:
      pipes.ended = nullptr;
      pipes.is_drained = true;
      break;
    case EventKind::pipe_ended:
      if (pipes.gone.insert(object).second && !pipes.is_drained) {
        pipes.ended = &event;
        pipes.object = event.object;
        pipes.on_every_path = true;
      }
      break;
    case EventKind::pipe_made:
      pipes.gone.erase(object);
      if (pipes.ended != nullptr) {
        judge(event, pipes);
        pipes.ended = nullptr;
      }
      break;
    case EventKind::work:
    case EventKind::copy_in:
    case EventKind::copy_out:
    case EventKind::matmul:
      pipes.is_drained = false;
      break;
    default:
      break;
    }
  }

  static Pipes joined(Pipes a, const Pipes& b) {
    const bool both = a.ended != nullptr && b.ended != nullptr;
    a.on_every_path = both && a.on_every_path && b.on_every_path;
    if (a.ended == nullptr) {
      a.ended = b.ended;
      a.object = b.object;
    }
    a.is_drained = a.is_drained && b.is_drained;
    std::erase_if(a.gone, [&b](const std::string& one) { return !b.gone.contains(one); });
    return a;
  }

 private:
  void judge(const Event& made, const Pipes& pipes) {
    const source::Place place = pipes.ended->in->file->place(pipes.ended->node.begin());
    const bool by_block = pipes.ended->node.is("declaration");
    finding::Values values = {{"pipe", pipes.object}, {"next", made.object}};
    put(values, "end", by_block ? "the end of its block" : "Destroy() in line " + std::to_string(place.line),
        by_block ? "其作用域结束" : "第 " + std::to_string(place.line) + " 行的 Destroy()");
    auto& added = subject_.add("DCU870", made, values);
    if (!pipes.on_every_path || !kernel_.is_entry) {
      added.severity = std::min(added.severity, Severity::warning);
    }
  }

  const Subject& subject_;
  const Kernel& kernel_;
};

} // namespace

void check_pipes(const Subject& subject) {
  if (subject.request.product == superkernel::Product::ascend_950) {
    return; // the adaptation page has the rule for A2 and A3 alone
  }
  for (const Kernel& kernel : subject.kernels) {
    for (const Sides side : each_side) {
      if ((kernel.sides & side) != 0) {
        Follower follower(subject, kernel);
        Flow<Pipes, Follower>(subject.program, follower, side).run(*kernel.function, {});
      }
    }
  }
}

} // namespace dcuop::check::ascend

// https://github.com/mirror-cann/graph-autofusion, super_kernel/src/jit/superkernel/super_kernel_op_infos.py
// (check_sp_has_two_real_stream, find_all_inner_event_id_set), super_kernel_sub_op_infos.py and super_kernel.py.
#include "build_errors.hpp"

#include <algorithm>

#include "launch.hpp"

namespace dcuop::superkernel {

namespace {

using Kind = BuildError::Kind;

std::string common_event(const Operator& sender, const Operator& receiver) {
  const auto found = std::find_if(sender.sends.begin(), sender.sends.end(), [&](const std::string& event) {
    return receiver.receives.count(event) != 0;
  });
  return found == sender.sends.end() ? std::string() : *found;
}

bool has_early_start(const Operator& op) {
  return op.set_next != Call::none || op.wait_previous != Call::none;
}

class Checks {
 public:
  Checks(const Scope& scope, const Options& options, std::vector<BuildError>& errors)
      : scope_(scope), options_(options), errors_(errors) {}

  void run(const Segment& segment) {
    check_streams(segment);
    check_events(segment);
    check_early_start(segment);
  }

 private:
  [[nodiscard]] const Operator& at(std::size_t index) const { return scope_.operators[index]; }

  void add(Kind kind, std::size_t op, std::size_t other = 0, const std::string& event = {}) {
    BuildError error;
    error.kind = kind;
    error.op = op;
    error.other = other;
    error.event = event;
    errors_.push_back(error);
  }

  void check_streams(const Segment& segment) {
    for (std::size_t i = 1; i < segment.operators.size() && !options_.stream_fusion; ++i) {
      const std::size_t before = segment.operators[i - 1];
      const std::size_t after = segment.operators[i];
      if (at(before).stream != at(after).stream && !are_linked(at(before), at(after))) {
        add(Kind::streams, after, before);
        return; // the generator stops at the first, and one option is the answer to all
      }
    }
  }

  void check_events(const Segment& segment) {
    const std::size_t first = segment.operators.front();
    const std::size_t last = segment.operators.back();
    if (!at(first).receives.empty()) {
      add(Kind::first_receives, first, first, *at(first).receives.begin());
    }
    if (!at(last).sends.empty()) {
      add(Kind::last_sends, last, last, *at(last).sends.begin());
    }
    for (std::size_t i = 0; i < segment.operators.size(); ++i) {
      const std::size_t sender = segment.operators[i];
      if (const std::string own = common_event(at(sender), at(sender)); !own.empty()) {
        add(Kind::event_in_operator, sender, sender, own);
      }
      for (std::size_t j = i + 1; j < segment.operators.size(); ++j) {
        const std::size_t receiver = segment.operators[j];
        const std::string event = common_event(at(sender), at(receiver));
        if (!event.empty() && at(sender).stream == at(receiver).stream) {
          add(Kind::event_in_stream, receiver, sender, event);
        }
      }
    }
  }

  void check_early_start(const Segment& segment) {
    for (const std::size_t op : segment.operators) {
      if (!has_early_start(at(op))) {
        continue;
      }
      if (options_.early_start == 0) {
        add(Kind::early_start_off, op);
      } else if (at(op).task == Task::tiling_sink) {
        add(Kind::dynamic_early, op);
      }
    }
  }

  const Scope& scope_;
  const Options& options_;
  std::vector<BuildError>& errors_;
};

} // namespace

void add_build_errors(const Scope& scope, const Options& options, const std::vector<Segment>& segments,
                      std::vector<BuildError>& errors) {
  if (scope.backend != Backend::ge) {
    return;
  }
  for (const Segment& segment : segments) {
    if (segment.is_fused) {
      Checks(scope, options, errors).run(segment);
    }
  }
}

} // namespace dcuop::superkernel

// DCU935: kernels that wait for their whole grids, side by side on several streams.
#include <algorithm>

#include "barriers.hpp"

namespace dcuop::check {
namespace {

// MI300X, 304 compute units of 2048 threads: https://rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html; a DCU has
// fewer.
constexpr std::int64_t most_threads = 304 * 2048;

/// What a grid is computed from when it is to fill the device.
bool asks_capacity(std::string_view text) {
  return contains_any(text, {"MultiprocessorCount", "multiProcessorCount", "MaxActiveBlocks",
                             "MaxPotentialBlockSize", "maxActiveBlocks", "numComputeUnits", "num_cus"});
}

bool waits(std::string_view name) {
  return contains_any(name,
                      {"StreamWaitEvent", "StreamSynchronize", "DeviceSynchronize", "EventSynchronize"}) ||
         is_any_of(name, {"synchronize", "block", "wait"});
}

class StreamCheck {
 public:
  StreamCheck(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings), barriers_(sources) {}

  void run() {
    std::set<const Function*> seen;
    for (const LaunchSite& site : sources_.launches) {
      if (seen.insert(site.in).second) {
        judge(*site.in);
      }
    }
  }

 private:
  [[nodiscard]] bool waits_for_grid(const LaunchSite& site) const {
    if (site.is_cooperative) {
      return true;
    }
    const auto kernels = sources_.model.named(site.kernel, site.in->file);
    return std::any_of(kernels.begin(), kernels.end(),
                       [&](const Function* one) { return barriers_.waits_for_grid(*one); });
  }

  void judge(const Function& function) {
    std::vector<const LaunchSite*> whole;
    for (const LaunchSite* site : sources_.launches_in(function)) {
      if (waits_for_grid(*site)) {
        whole.push_back(site);
      }
    }
    for (const LaunchSite* site : whole) {
      if (fills_device(*site) && is_stream_of_a_loop(*site)) {
        put(*site, site->kernel);
        return;
      }
    }
    for (std::size_t second = 1; second < whole.size(); ++second) {
      const LaunchSite& a = *whole[second - 1];
      const LaunchSite& b = *whole[second];
      const bool together = a.stream.text() != b.stream.text() && !waited_between(function, a, b) &&
                            !on_other_branches(a.call->node, b.call->node);
      if (together && (fills_device(a) || fills_device(b))) {
        put(b, a.kernel);
        return;
      }
    }
  }

  void put(const LaunchSite& site, const std::string& other) {
    findings_.add("DCU935", *site.in->file, site.call->at(),
                  {{"function", site.in->name}, {"kernel", site.kernel}, {"other", other}});
  }

  static bool waited_between(const Function& function, const LaunchSite& a, const LaunchSite& b) {
    return std::any_of(function.calls.begin(), function.calls.end(), [&](const Call& call) {
      return call.at() > a.call->at() && call.at() < b.call->at() && waits(call.name);
    });
  }

  /// if (x) a(); else b();
  static bool on_other_branches(Node a, Node b) {
    for (Node above = a.parent(); above; above = above.parent()) {
      const Node otherwise = above.is("if_statement") ? above.child("alternative") : Node();
      const bool around_a = otherwise && a.end() <= otherwise.begin();
      if (around_a && b.begin() >= otherwise.begin() && b.begin() < otherwise.end()) {
        return true;
      }
    }
    return false;
  }

  /// for (auto s : streams) launch on s; for (i...) launch on streams[i].
  static bool is_stream_of_a_loop(const LaunchSite& site) {
    if (!site.stream) {
      return false;
    }
    const std::string name = source::base_name(site.stream);
    for (Node above = site.call->node.parent(); above; above = above.parent()) {
      if (above.is("for_range_loop") && source::declared_name(above.child("declarator")).text() == name) {
        return true;
      }
      if (!above.is("for_statement") || !site.stream.is("subscript_expression")) {
        continue;
      }
      bool counted = false;
      above.child("initializer").each([&](Node node) {
        counted = counted ||
                  (node.is("init_declarator") &&
                   contains(site.stream.text(), "[" + std::string(source::declared_name(node).text()) + "]"));
      });
      if (counted) {
        return true;
      }
    }
    return false;
  }

  /// The product of a number, or of what dim3 is made of; `most_threads` of more, so that no product overflows.
  [[nodiscard]] std::optional<std::int64_t> folded(Node size, const Function& in) const {
    if (const auto value = size ? sources_.model.fold(size, &in) : std::nullopt) {
      return std::min(*value, most_threads);
    }
    Node parts = size.is("call_expression")               ? size.child("arguments")
                 : size.is("compound_literal_expression") ? size.child("value")
                                                          : Node();
    if (size.is("identifier")) {
      in.body.each([&](Node node) {
        if (node.is("init_declarator") && source::declared_name(node).text() == size.text()) {
          parts = node.child("value");
        }
      });
    }
    std::optional<std::int64_t> product = parts.first() ? std::optional<std::int64_t>(1) : std::nullopt;
    for (Node one = parts.first(); one && product; one = one.next()) {
      const auto value = sources_.model.fold(one, &in);
      product = value && *value > 0
                    ? std::optional(std::min(*product * std::min(*value, most_threads), most_threads))
                    : std::nullopt;
    }
    return product;
  }

  /// A number of blocks that is half of what any device holds, or more: of two, some must wait.
  [[nodiscard]] bool is_half_of_any_device(const LaunchSite& site) const {
    const auto blocks = folded(site.grid, *site.in);
    const auto threads = folded(site.block, *site.in);
    return blocks && *blocks * threads.value_or(64) * 2 > most_threads;
  }

  [[nodiscard]] bool fills_device(const LaunchSite& site) const {
    return is_half_of_any_device(site) || asks_for_all(site);
  }

  /// Its grid comes from the number of compute units or of blocks that fit, and is no part of it.
  [[nodiscard]] static bool asks_for_all(const LaunchSite& site) {
    std::set<std::string, std::less<>> seen;
    std::vector<Node> next = {site.grid};
    bool asks = false;
    while (!next.empty()) {
      const Node expression = next.back();
      next.pop_back();
      bool divided = false;
      expression.each([&](Node node) {
        divided = divided || (node.is("binary_expression") && node.child("operator").text() == "/" &&
                              !contains(node.child("left").text(), "+"));
      });
      if (divided) {
        return false;
      }
      asks = asks || asks_capacity(expression.text());
      // `dim3 grid(processors * each)` is a declaration of a function to the parser: its types are names too.
      expression.each([&](Node name) {
        const bool is_name = name.is("identifier") || name.is("type_identifier");
        if (is_name && seen.insert(std::string(name.text())).second) {
          add_values(*site.in, name.text(), next, asks);
        }
      });
    }
    return asks;
  }

  static void add_values(const Function& function, std::string_view name, std::vector<Node>& into,
                         bool& asks) {
    function.body.each([&](Node node) {
      if (node.is("init_declarator") && source::declared_name(node).text() == name) {
        into.push_back(node.child("value"));
      } else if (node.is("function_declarator") && node.child("declarator").text() == name) {
        into.push_back(node.child("parameters"));
      } else if (node.is("assignment_expression") && node.child("left").text() == name) {
        into.push_back(node.child("right"));
      } else if (node.is("call_expression") && asks_capacity(node.text())) {
        // hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount, device)
        for (Node argument = node.child("arguments").first(); argument; argument = argument.next()) {
          asks = asks || (argument.is("pointer_expression") && argument.child("argument").text() == name);
        }
      }
    });
  }

  const Sources& sources_;
  Findings& findings_;
  Barriers barriers_;
};

} // namespace

void check_streams(const Sources& sources, Findings& findings) {
  StreamCheck(sources, findings).run();
}

} // namespace dcuop::check

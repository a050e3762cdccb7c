#pragma once
// What a function does with a tensor that it is given: which of its properties are looked at before a launch.

#include <map>
#include <set>
#include <string>
#include <utility>

#include "sources.hpp"

namespace dcuop::check {

struct TensorUse {
  bool data = false;        ///< its memory goes somewhere
  bool device = false;      ///< checked
  bool dtype = false;       ///< checked, or chosen by
  bool contiguity = false;  ///< checked, or its strides are read
  bool sizes = false;       ///< read
  bool same_device = false; ///< compared with another's
  bool same_dtype = false;
  bool alias = false;        ///< its memory is compared with another's
  bool written = false;      ///< a kernel stores to it
  std::string unknown_check; ///< a function or macro that is not in the sources, and may check all that
  TensorUse& operator|=(const TensorUse& other);
};

class TensorUses {
 public:
  explicit TensorUses(const Sources& sources) : sources_(sources) {}

  /// Of a parameter. With `before`, checks count up to the first launch only.
  TensorUse of(const Function& function, std::size_t parameter, bool before);

 private:
  friend class UseReader;
  using Key = std::tuple<const Function*, std::size_t, bool>;
  const Sources& sources_;
  std::map<Key, TensorUse> known_;
};

/// Names in a function that stand for the tensor `name`, itself among them.
[[nodiscard]] std::set<std::string, std::less<>> aliases_of(const Function& function,
                                                            const std::string& name);
/// Whether a pointer in a function goes to a kernel or function that stores through it, in a struct or by itself.
[[nodiscard]] bool is_stored_to(const Sources& sources, const Function& function, Node pointer);
/// Inside of what demands something: TORCH_CHECK, an if, a comparison.
[[nodiscard]] bool is_in_check(Node node);

} // namespace dcuop::check

#pragma once
// What scope files and messages call things: one table a type.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "dcuop/superkernel/scope.hpp"

namespace dcuop::superkernel {

template <typename Value> struct Named {
  std::string_view name;
  Value value;
};

inline constexpr std::array kernel_types = {
    Named<KernelType>{"AIV_ONLY", KernelType::aiv_only},
    Named<KernelType>{"AIC_ONLY", KernelType::aic_only},
    Named<KernelType>{"MIX_AIV_1_0", KernelType::mix_aiv_1_0},
    Named<KernelType>{"MIX_AIC_1_0", KernelType::mix_aic_1_0},
    Named<KernelType>{"MIX_AIC_1_1", KernelType::mix_aic_1_1},
    Named<KernelType>{"MIX_AIC_1_2", KernelType::mix_aic_1_2},
};
inline constexpr std::array products = {Named<Product>{"A2", Product::a2}, Named<Product>{"A3", Product::a3},
                                        Named<Product>{"950", Product::ascend_950}};
inline constexpr std::array backends = {Named<Backend>{"ge", Backend::ge},
                                        Named<Backend>{"npugraph_ex", Backend::npugraph_ex}};
inline constexpr std::array tasks = {
    Named<Task>{"static", Task::fixed}, Named<Task>{"tiling-sink", Task::tiling_sink},
    Named<Task>{"collective", Task::collective}, Named<Task>{"unfusible", Task::unfusible}};

/// Of a value that the table has.
template <typename Value, std::size_t count>
std::string name_in(const std::array<Named<Value>, count>& all, Value value) {
  const auto is_it = [&](const Named<Value>& named) { return named.value == value; };
  return std::string(std::find_if(all.begin(), all.end(), is_it)->name);
}

} // namespace dcuop::superkernel

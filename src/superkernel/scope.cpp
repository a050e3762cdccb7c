#include "dcuop/superkernel/scope.hpp"

#include "names.hpp"

namespace dcuop::superkernel {

Side opposite(Side side) {
  return side == Side::aic ? Side::aiv : Side::aic;
}

bool uses(KernelType type, Side side) {
  switch (type) {
  case KernelType::aiv_only:
  case KernelType::mix_aiv_1_0:
    return side == Side::aiv;
  case KernelType::aic_only:
  case KernelType::mix_aic_1_0:
    return side == Side::aic;
  case KernelType::mix_aic_1_1:
  case KernelType::mix_aic_1_2:
    break;
  }
  return true;
}

bool is_mix(KernelType type) {
  return uses(type, Side::aic) && uses(type, Side::aiv);
}

std::string to_string(Backend backend) {
  return name_in(backends, backend);
}

std::string to_string(Product product) {
  return name_in(products, product);
}

std::string to_string(Side side) {
  return side == Side::aic ? "AIC" : "AIV";
}

std::string to_string(KernelType type) {
  return name_in(kernel_types, type);
}

std::string to_string(Task task) {
  return name_in(tasks, task);
}

} // namespace dcuop::superkernel

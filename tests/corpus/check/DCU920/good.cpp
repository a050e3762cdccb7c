#include <torch/extension.h>

#include "op.h"
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
}

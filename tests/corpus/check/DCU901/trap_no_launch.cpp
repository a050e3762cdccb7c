#include <torch/extension.h>

at::Tensor twice(const at::Tensor& x) {
  return x * 2;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("twice", &twice); // binds nothing that launches
}

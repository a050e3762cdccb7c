// A contract as data: names and tensors in an array of pairs, a helper that takes a dtype, scalars checked by the way.
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <array>
#include <torch/extension.h>
#include <utility>

namespace {

void expect(bool condition, const std::string& message) {
  if (!condition) {
    throw py::value_error(message);
  }
}

void expect_tensor(const at::Tensor& tensor, const std::string& name, at::ScalarType dtype, at::IntArrayRef sizes,
                   at::Device device) {
  expect(tensor.device() == device, name + ": device");
  expect(tensor.scalar_type() == dtype, name + ": dtype");
  expect(tensor.sizes() == sizes, name + ": sizes");
  expect(tensor.layout() == at::kStrided && tensor.is_contiguous(), name + ": layout"); //! or DCU903 expect(tensor.layout() == at::kStrided, name + ": layout");
}

__global__ void gather(const float* table, const int64_t* index, float* out, int64_t rows, int64_t width, int64_t entries) {
  const int64_t row = blockIdx.x;
  const int64_t from = index[row];
  if (from < 0 || from >= entries) {
    return;
  }
  for (int64_t c = threadIdx.x; c < width; c += blockDim.x) {
    out[row * width + c] = table[from * width + c];
  }
}

} // namespace

at::Tensor gather_rows(const at::Tensor& table, const at::Tensor& index) {
  expect(table.is_cuda(), "table: device");
  expect(table.dim() == 2 && index.dim() == 1, "dimensions");
  expect_tensor(table, "table", at::kFloat, {table.size(0), table.size(1)}, table.device());
  expect_tensor(index, "index", at::kLong, {index.size(0)}, table.device()); //! without DCU903
  const c10::DeviceGuard guard(table.device());
  at::Tensor out = at::zeros({index.size(0), table.size(1)}, table.options());
  const int64_t rows = out.size(0);
  if (rows > 0) {
    gather<<<rows, 64, 0, c10::hip::getCurrentHIPStream(table.device().index())>>>(
        table.data_ptr<float>(), index.data_ptr<int64_t>(), out.data_ptr<float>(), rows, table.size(1), table.size(0));
    C10_HIP_KERNEL_LAUNCH_CHECK();
  }
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("gather_rows", &gather_rows, py::arg("table"), py::arg("index"), R"doc(rows of a table; k<<<1, 1>>> is text)doc");
}

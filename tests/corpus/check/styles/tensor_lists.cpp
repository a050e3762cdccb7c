// Lists of tensors, optional ones, scalars; the launcher lies elsewhere.
#include <c10/hip/HIPGuard.h>
#include <c10/hip/HIPStream.h>
#include <torch/extension.h>

void multi_scale_launch(float** pointers, const int64_t* sizes, int64_t count, float factor, hipStream_t stream);
void bias_launch(const float* x, const float* bias, float* y, int64_t rows, int64_t columns, hipStream_t stream);

void multi_scale_(std::vector<at::Tensor> tensors, double factor) {
  TORCH_CHECK(!tensors.empty(), "no tensors");
  std::vector<float*> pointers;
  std::vector<int64_t> sizes;
  for (const auto& t : tensors) {
    TORCH_CHECK(t.is_cuda() && t.device() == tensors[0].device(), "devices"); //! without DCU901
    TORCH_CHECK(t.is_non_overlapping_and_dense(), "dense"); //! without DCU903
    TORCH_CHECK(t.scalar_type() == at::kFloat, "dtype");
    pointers.push_back(t.data_ptr<float>());
    sizes.push_back(t.numel());
  }
  const c10::OptionalDeviceGuard guard(device_of(tensors[0]));
  multi_scale_launch(pointers.data(), sizes.data(), tensors.size(), factor, c10::hip::getCurrentHIPStream());
}

static void check_list(at::TensorList list, const char* name) {
  TORCH_CHECK(list.size() == 2, name, ": two tensors");
  for (const at::Tensor& one : list) {
    TORCH_CHECK(one.is_cuda(), name, ": device"); //! without DCU901
    TORCH_CHECK(one.is_contiguous() && one.sizes() == list[0].sizes(), name, ": memory"); //! without DCU903
  }
}

void swap_(at::TensorList pair) {
  check_list(pair, "pair");
  TORCH_CHECK(pair[0].device() == pair[1].device() && !pair[0].is_alias_of(pair[1]), "devices and memory");
  if (pair[0].numel() == 0) {
    return;
  }
  const c10::OptionalDeviceGuard guard(device_of(pair[0]));
  float* pointers[] = {pair[0].data_ptr<float>(), pair.at(1).data_ptr<float>()};
  const int64_t sizes[] = {pair[0].numel(), pair[1].numel()};
  multi_scale_launch(pointers, sizes, 2, -1, c10::hip::getCurrentHIPStream());
}

at::Tensor add_bias(const at::Tensor& x, const c10::optional<at::Tensor>& bias) {
  const c10::MaybeOwned<at::Tensor> maybe = at::borrow_from_optional_tensor(bias);
  TORCH_CHECK(x.is_cuda(), "x: device"); //! without DCU901
  TORCH_CHECK(x.dim() == 2, "x: two dimensions, got ", x.dim());
  TORCH_CHECK(x.is_contiguous(), "x: contiguous"); //! without DCU903
  if (bias.has_value() && bias->defined()) {
    TORCH_CHECK(bias->device() == x.device(), "bias: device"); //! without DCU901
    TORCH_CHECK(bias->is_contiguous(), "bias: contiguous"); //! without DCU903
    TORCH_CHECK(bias->numel() == x.size(1), "bias: size"); //! without DCU904
  }
  const c10::DeviceGuard guard(x.device());
  auto y = at::empty_like(x);
  const auto rows = x.size(0);
  const auto columns = x.size(1);
  if (rows == 0 || columns == 0) {
    return y;
  }
  const float* bias_pointer = bias.has_value() ? bias->data_ptr<float>() : nullptr;
  bias_launch(x.data_ptr<float>(), bias_pointer, y.data_ptr<float>(), rows, columns, c10::hip::getCurrentHIPStream());
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("multi_scale_", &multi_scale_);
  m.def("swap_", &swap_);
  m.def("add_bias", &add_bias, py::arg("x"), py::arg("bias") = py::none());
}

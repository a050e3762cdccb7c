/// What the result will be like: for meta tensors, and the fake ones that torch.compile traces with.
at::Tensor affine_shape(const at::Tensor& x, double scale, double bias) {
  check_tensor(x);
  contract.to_float32(scale, "scale");
  contract.to_float32(bias, "bias");
  return at::empty_like(x);
}

} // namespace

// One function for every kind of device: those that are no DCU are refused in affine's own words.
TORCH_LIBRARY(affine, library) {
  library.def("affine(Tensor x, float scale, float bias) -> Tensor",
              torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, &affine_forward));
}

TORCH_LIBRARY_IMPL(affine, Meta, library) {
  library.impl("affine", &affine_shape);
}

// There is no backward: on to the functions above, which refuse what requires grad.
TORCH_LIBRARY_IMPL(affine, Autograd, library) {
  library.impl("affine", torch::CppFunction::makeFallthrough());
}

__global__ void product(float4_t* acc, half4_t a, half4_t b) {
  *acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, *acc, 0, 0, 0); //! DCU919
}

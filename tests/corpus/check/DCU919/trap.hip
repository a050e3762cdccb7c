// __builtin_amdgcn_mfma_f32_16x16x16f16
#ifdef __gfx942__
__device__ float4_t fused(half4_t a, half4_t b, float4_t c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
}
#endif
__device__ float4_t mine(half4_t a, half4_t b, float4_t c) {
  return __builtin_amdgcn_mmac_f32_16x16x16f16(a, b, c); // a DCU's own
}

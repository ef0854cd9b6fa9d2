// Definitions for Metal's compiler before a kernel's text, which is the same for CUDA (shim/cuda/words.h).
// Two kernels that compute the same sum give the same bits only if the compiler does not contract a product and a sum.
#pragma METAL fp contract(off)

#define MSL_SHARED threadgroup
#define MSL_CONSTANT_TABLE constant
#define MSL_FUNCTION_CONSTANT(T, NAME, INDEX) constant T NAME [[function_constant(INDEX)]];
#define MSL_INSTANCE(NAME, KERNEL, ...) \
  template [[host_name(#NAME)]] kernel decltype(KERNEL<__VA_ARGS__>) KERNEL<__VA_ARGS__>;

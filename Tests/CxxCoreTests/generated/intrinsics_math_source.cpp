// The text of intrinsics_math.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource intrinsics_math_source() noexcept {
  return {"intrinsics_math",
R"msl(#include <metal_stdlib>
using namespace metal;
template <typename T>
METAL_FUNC void unary(device float* out, uint at, uint count, T v) {
  const T positive = abs(v) + T(0.25f);
  out[0 * count + at] = float(exp(v));
  out[1 * count + at] = float(exp2(v));
  out[2 * count + at] = float(log(positive));
  out[3 * count + at] = float(log2(positive));
  out[4 * count + at] = float(sqrt(positive));
  out[5 * count + at] = float(rsqrt(positive));
  out[6 * count + at] = float(tanh(v));
  out[7 * count + at] = float(sin(v));
  out[8 * count + at] = float(cos(v));
  out[9 * count + at] = float(floor(v));
  out[10 * count + at] = float(ceil(v));
  out[11 * count + at] = float(rint(v));
  out[12 * count + at] = float(fabs(v));
  out[13 * count + at] = float(precise::exp(v));
  out[14 * count + at] = float(precise::log(positive));
  out[15 * count + at] = float(precise::sqrt(positive));
  out[16 * count + at] = float(precise::rsqrt(positive));
  out[17 * count + at] = float(precise::sin(v));
  out[18 * count + at] = float(precise::cos(v));
  out[19 * count + at] = float(precise::tanh(v));
  out[20 * count + at] = float(fast::exp(v));
  out[21 * count + at] = float(fast::log(positive));
  out[22 * count + at] = float(fast::sqrt(positive));
  out[23 * count + at] = float(fast::rsqrt(positive));
  out[24 * count + at] = float(fast::sin(v));
  out[25 * count + at] = float(fast::cos(v));
  out[26 * count + at] = float(fast::tanh(v));
  out[27 * count + at] = float(fast::exp2(v));
  out[28 * count + at] = float(precise::exp2(v));
  out[29 * count + at] = float(fast::log2(positive));
  out[30 * count + at] = float(precise::log2(positive));
}
template <typename T>
kernel void intrinsics_unary(
    device const float* in [[buffer(0)]],
    device float* out [[buffer(1)]],
    uint at [[thread_position_in_grid]],
    uint count [[threads_per_grid]]) {
  unary<T>(out, at, count, T(in[at]));
}
MSL_INSTANCE(intrinsics_unary_f32, intrinsics_unary, float)
MSL_INSTANCE(intrinsics_unary_f16, intrinsics_unary, half)
kernel void intrinsics_scalar(
    device const float* a [[buffer(0)]],
    device const float* b [[buffer(1)]],
    device float* out [[buffer(2)]],
    uint at [[thread_position_in_grid]],
    uint count [[threads_per_grid]]) {
  const float x = a[at];
  const float y = b[at];
  const int i = int(x * 100.0f);
  const int j = int(y * 100.0f);
  out[0 * count + at] = fma(x, y, 0.5f);
  out[1 * count + at] = min(x, y);
  out[2 * count + at] = max(x, y);
  out[3 * count + at] = clamp(x, -0.5f, 0.25f);
  out[4 * count + at] = select(x, y, x < y);
  out[5 * count + at] = fmin(x, y);
  out[6 * count + at] = fmax(x, y);
  out[7 * count + at] = pow(fabs(x) + 0.5f, y);
  out[8 * count + at] = float(min(i, j));
  out[9 * count + at] = float(max(i, j));
  out[10 * count + at] = float(abs(i));
  out[11 * count + at] = float(clamp(i, -7, 9));
  out[12 * count + at] = float(popcount(uint(i)));
  out[13 * count + at] = float(clz(uint(abs(i))));
  out[14 * count + at] = float(min(half(x), half(y)));
  out[15 * count + at] = float(half(x) * half(y) + half(x));
  out[16 * count + at] = float(max(ulong(abs(i)), ulong(abs(j))));
}
kernel void intrinsics_convert(
    device const uint* in [[buffer(0)]],
    device uint* out [[buffer(1)]],
    uint at [[thread_position_in_grid]],
    uint count [[threads_per_grid]]) {
  const float f = as_type<float>(in[at]);
  const half h = half(f);
  const bfloat b = bfloat(f);
  out[0 * count + at] = uint(as_type<ushort>(h));
  out[1 * count + at] = uint(as_type<ushort>(b));
  out[2 * count + at] = as_type<uint>(float(h));
  out[3 * count + at] = as_type<uint>(float(b));
}
kernel void intrinsics_vectors(
    device const float4* in [[buffer(0)]],
    device float* out [[buffer(1)]],
    device half4* halves [[buffer(2)]],
    device bfloat4* bfloats [[buffer(3)]],
    device packed_float3* packed [[buffer(4)]],
    uint at [[thread_position_in_grid]],
    uint count [[threads_per_grid]]) {
  const float4 v = in[at];
  const float4 w = float4(v.y, v.x, 2.0f, v[3]);
  out[0 * count + at] = (v + w).x;
  out[1 * count + at] = (v - w).y;
  out[2 * count + at] = (v * w).z;
  out[3 * count + at] = (v / (w * w + 1.0f)).w;
  out[4 * count + at] = dot(v, w);
  out[5 * count + at] = (2.0f * v + 1.0f).w;
  out[6 * count + at] = (-v).x;
  out[7 * count + at] = any(v < w) ? 1.0f : 0.0f;
  out[8 * count + at] = all(v <= w) ? 1.0f : 0.0f;
  out[9 * count + at] = select(v, w, v < w).x;
  out[10 * count + at] = max(v, w).y;
  out[11 * count + at] = min(v, w).z;
  out[12 * count + at] = fma(v, w, v).w;
  out[13 * count + at] = clamp(v, -0.25f, 0.25f).x;
  out[14 * count + at] = exp(v).z;
  out[15 * count + at] = float4(int4(v * 10.0f)).y;
  const uint2 bits = uint2(uint(at), 7u) ^ uint2(3u, 5u);
  out[16 * count + at] = float(bits.x + ((bits << uint2(1u)).y) + (bits & uint2(6u)).y + (bits | uint2(8u)).x);
  float3 t = float3(v.x, v.y, v.z);
  t += 1.0f;
  t *= float3(1.0f, 2.0f, 3.0f);
  out[17 * count + at] = t.x + t.y + t.z;
  out[18 * count + at] = float4(float2(v.x, v.y), float2(v.z, v.w)).w;
  out[19 * count + at] = abs(v).x;
  halves[at] = half4(v);
  bfloats[at] = bfloat4(v);
  packed[at] = t;
  const float3 back = packed[at];
  out[20 * count + at] = back.y;
  out[21 * count + at] = float(halves[at].z);
  out[22 * count + at] = float(bfloats[at].w);
  out[23 * count + at] = float(half4(v).x * half4(w).y);
}
)msl",
R"msl(#define MSL_KERNEL_intrinsics_scalar(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* a, const float* b, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_scalar(a, b, out, msl_builtin<uint>(msl_thread_position_in_grid()), msl_builtin<uint>(msl_threads_per_grid())); }
#define MSL_KERNEL_intrinsics_convert(BOUNDS) MSL_GLOBAL(BOUNDS)(const uint* in, uint* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_convert(in, out, msl_builtin<uint>(msl_thread_position_in_grid()), msl_builtin<uint>(msl_threads_per_grid())); }
#define MSL_KERNEL_intrinsics_vectors(BOUNDS) MSL_GLOBAL(BOUNDS)(const float4* in, float* out, half4* halves, bfloat4* bfloats, packed_float3* packed) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_vectors(in, out, halves, bfloats, packed, msl_builtin<uint>(msl_thread_position_in_grid()), msl_builtin<uint>(msl_threads_per_grid())); }
#define MSL_KERNEL_intrinsics_unary(BOUNDS, T) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_unary<T>(in, out, msl_builtin<uint>(msl_thread_position_in_grid()), msl_builtin<uint>(msl_threads_per_grid())); }
#define MSL_ENTRY_intrinsics_scalar MSL_KERNEL_intrinsics_scalar((1024))
#define MSL_ENTRY_intrinsics_convert MSL_KERNEL_intrinsics_convert((1024))
#define MSL_ENTRY_intrinsics_vectors MSL_KERNEL_intrinsics_vectors((1024))
#define MSL_ENTRY_intrinsics_unary_f32 MSL_KERNEL_intrinsics_unary((1024), float)
#define MSL_ENTRY_intrinsics_unary_f16 MSL_KERNEL_intrinsics_unary((1024), half)
)msl"};
}
}  // namespace pagoda::device::gpu::generated

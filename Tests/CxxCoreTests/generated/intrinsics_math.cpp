// intrinsics_math.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Tests/Kernels/intrinsics_math.metal"
# 1 "Tests/Kernels/intrinsics_math.metal"

# 3 "Tests/Kernels/intrinsics_math.metal"



template <typename T>
METAL_FUNC void unary(MSL_DEVICE float* out, uint at, uint count, T v) {
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
MSL_KERNEL void intrinsics_unary(
    MSL_DEVICE const float* in ,
    MSL_DEVICE float* out ,
    uint at ,
    uint count ) {
  unary<T>(out, at, count, T(in[at]));
}




MSL_KERNEL void intrinsics_scalar(
    MSL_DEVICE const float* a ,
    MSL_DEVICE const float* b ,
    MSL_DEVICE float* out ,
    uint at ,
    uint count ) {
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


MSL_KERNEL void intrinsics_convert(
    MSL_DEVICE const uint* in ,
    MSL_DEVICE uint* out ,
    uint at ,
    uint count ) {
  const float f = as_type<float>(in[at]);
  const half h = half(f);
  const bfloat b = bfloat(f);
  out[0 * count + at] = uint(as_type<ushort>(h));
  out[1 * count + at] = uint(as_type<ushort>(b));
  out[2 * count + at] = as_type<uint>(float(h));
  out[3 * count + at] = as_type<uint>(float(b));
}


MSL_KERNEL void intrinsics_vectors(
    MSL_DEVICE const float4* in ,
    MSL_DEVICE float* out ,
    MSL_DEVICE half4* halves ,
    MSL_DEVICE bfloat4* bfloats ,
    MSL_DEVICE packed_float3* packed ,
    uint at ,
    uint count ) {
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
# 1 "intrinsics_math.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"a", 0, BindingKind::buffer, sizeof(float), false}, {"b", 1, BindingKind::buffer, sizeof(float), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_scalar((const float*)in.buffers[0], (const float*)in.buffers[1], (float*)in.buffers[2], msl_builtin<uint>(b.thread_position_in_grid), msl_builtin<uint>(b.threads_per_grid)); }
constexpr BindingInfo msl_bindings_1[] = {{"in", 0, BindingKind::buffer, sizeof(uint), false}, {"out", 1, BindingKind::buffer, sizeof(uint), true}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_convert((const uint*)in.buffers[0], (uint*)in.buffers[1], msl_builtin<uint>(b.thread_position_in_grid), msl_builtin<uint>(b.threads_per_grid)); }
constexpr BindingInfo msl_bindings_2[] = {{"in", 0, BindingKind::buffer, sizeof(float4), false}, {"out", 1, BindingKind::buffer, sizeof(float), true}, {"halves", 2, BindingKind::buffer, sizeof(half4), true}, {"bfloats", 3, BindingKind::buffer, sizeof(bfloat4), true}, {"packed", 4, BindingKind::buffer, sizeof(packed_float3), true}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_vectors((const float4*)in.buffers[0], (float*)in.buffers[1], (half4*)in.buffers[2], (bfloat4*)in.buffers[3], (packed_float3*)in.buffers[4], msl_builtin<uint>(b.thread_position_in_grid), msl_builtin<uint>(b.threads_per_grid)); }
constexpr BindingInfo msl_bindings_3[] = {{"in", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(float), true}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_unary<float>((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_position_in_grid), msl_builtin<uint>(b.threads_per_grid)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_unary<half>((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_position_in_grid), msl_builtin<uint>(b.threads_per_grid)); }
constexpr KernelInfo msl_kernels[] = {
  {"intrinsics_scalar", "intrinsics_math", msl_bindings_0, {}, 1024, msl_entry_0},
  {"intrinsics_convert", "intrinsics_math", msl_bindings_1, {}, 1024, msl_entry_1},
  {"intrinsics_vectors", "intrinsics_math", msl_bindings_2, {}, 1024, msl_entry_2},
  {"intrinsics_unary_f32", "intrinsics_math", msl_bindings_3, {}, 1024, msl_entry_3},
  {"intrinsics_unary_f16", "intrinsics_math", msl_bindings_3, {}, 1024, msl_entry_4},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> intrinsics_math_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated

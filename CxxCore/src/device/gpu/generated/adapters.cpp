// adapters.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/adapters.metal"
#include "device/gpu/generated/args_adapters.h"
#include "device/gpu/generated/args_rows.h"
#include "device/gpu/generated/common.h"


METAL_FUNC long adapter_entry(MSL_DEVICE const int* slots, MSL_DEVICE const int* experts,
                              MSL_CONSTANT pagoda_args::Adapters& args, uint row, uint part) {
  const uint token = row / args.per_token;
  const long slot = slots[token];
  long expert = 0;
  if (args.has_experts != 0) {
    expert = experts[long(token) * args.experts_stride + row % args.per_token];
  }
  return slot < 0 ? -1 : ((slot * args.num_experts + expert) * args.parts + part) * 3;
}
# 21 "Shaders/adapters.metal"
MSL_KERNEL void adapters_down(MSL_DEVICE const float* x ,
                          MSL_DEVICE const int* slots ,
                          MSL_DEVICE const int* experts ,
                          MSL_DEVICE const long* table ,
                          MSL_DEVICE const float* weights ,
                          MSL_DEVICE float* inner ,
                          MSL_CONSTANT pagoda_args::Adapters& args ,
                          uint3 tg ,
                          uint lane ) {
  const long entry = adapter_entry(slots, experts, args, tg.z, tg.y);
  if (entry < 0 || long(tg.x) >= table[entry + 2]) {
    return;
  }
  MSL_DEVICE const float* a = weights + table[entry] + long(tg.x) * args.cols;
  MSL_DEVICE const float* row = x + long(tg.z / args.rows_per_x) * args.x_stride;
  float sum = 0.0f;
  for (uint k = lane; MSL_LOOP(k < args.cols); k += 32) {
    sum += a[k] * row[k];
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    inner[long(tg.z) * args.inner_stride + tg.y * args.max_rank + tg.x] = sum;
  }
}
# 48 "Shaders/adapters.metal"
MSL_KERNEL void adapters_up(MSL_DEVICE const int* slots ,
                        MSL_DEVICE const int* experts ,
                        MSL_DEVICE const long* table ,
                        MSL_DEVICE const float* weights ,
                        MSL_DEVICE const float* inner ,
                        MSL_DEVICE float* out ,
                        MSL_CONSTANT pagoda_args::Adapters& args ,
                        uint3 tg ,
                        uint tid ) {
  const uint column = tg.x * 128 + tid;
  const uint count = args.count[tg.y];
  const long entry = adapter_entry(slots, experts, args, tg.z, tg.y);
  if (entry < 0 || column >= count) {
    return;
  }
  const long rank = table[entry + 2];
  if (rank == 0) {
    return;
  }
  MSL_DEVICE const float* b = weights + table[entry + 1] + column;
  MSL_DEVICE const float* from = inner + long(tg.z) * args.inner_stride + tg.y * args.max_rank;
  float sum = 0.0f;
  for (long r = 0; MSL_LOOP(r < rank); ++r) {
    sum += from[r] * b[r * count];
  }
  out[long(tg.z) * args.out_stride + args.first[tg.y] + column] += sum;
}
# 78 "Shaders/adapters.metal"
MSL_KERNEL void silu_mul(MSL_DEVICE const float* x ,
                     MSL_DEVICE float* out ,
                     MSL_CONSTANT pagoda_args::GeluMul& args ,
                     uint2 tg ,
                     uint tid ) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.width) {
    return;
  }
  MSL_DEVICE const float* row = x + long(tg.y) * args.x_stride;
  const float gate = row[i];
  const float up = row[args.width + i];
  out[long(tg.y) * args.out_stride + i] = silu(gate) * up;
}
# 1 "adapters.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"slots", 1, BindingKind::buffer, sizeof(int), false}, {"experts", 2, BindingKind::buffer, sizeof(int), false}, {"table", 3, BindingKind::buffer, sizeof(long), false}, {"weights", 4, BindingKind::buffer, sizeof(float), false}, {"inner", 5, BindingKind::buffer, sizeof(float), true}, {"args", 6, BindingKind::values, sizeof(pagoda_args::Adapters), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; adapters_down((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const long*)in.buffers[3], (const float*)in.buffers[4], (float*)in.buffers[5], *(const pagoda_args::Adapters*)in.buffers[6], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"slots", 0, BindingKind::buffer, sizeof(int), false}, {"experts", 1, BindingKind::buffer, sizeof(int), false}, {"table", 2, BindingKind::buffer, sizeof(long), false}, {"weights", 3, BindingKind::buffer, sizeof(float), false}, {"inner", 4, BindingKind::buffer, sizeof(float), false}, {"out", 5, BindingKind::buffer, sizeof(float), true}, {"args", 6, BindingKind::values, sizeof(pagoda_args::Adapters), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; adapters_up((const int*)in.buffers[0], (const int*)in.buffers[1], (const long*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (float*)in.buffers[5], *(const pagoda_args::Adapters*)in.buffers[6], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(float), true}, {"args", 2, BindingKind::values, sizeof(pagoda_args::GeluMul), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; silu_mul((const float*)in.buffers[0], (float*)in.buffers[1], *(const pagoda_args::GeluMul*)in.buffers[2], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"adapters_down", "adapters", msl_bindings_0, {}, 32, msl_entry_0},
  {"adapters_up", "adapters", msl_bindings_1, {}, 128, msl_entry_1},
  {"silu_mul", "adapters", msl_bindings_2, {}, 128, msl_entry_2},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> adapters_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated

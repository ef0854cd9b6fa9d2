// The text of adapters.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource adapters_source() noexcept {
  return {"adapters",
R"msl(#include "args/adapters.h"
#include "args/rows.h"
#include "common.h"
METAL_FUNC long adapter_entry(device const int* slots, device const int* experts,
                              constant pagoda_args::Adapters& args, uint row, uint part) {
  const uint token = row / args.per_token;
  const long slot = slots[token];
  long expert = 0;
  if (args.has_experts != 0) {
    expert = experts[long(token) * args.experts_stride + row % args.per_token];
  }
  return slot < 0 ? -1 : ((slot * args.num_experts + expert) * args.parts + part) * 3;
}
[[max_total_threads_per_threadgroup(32)]]
kernel void adapters_down(device const float* x [[buffer(0)]],
                          device const int* slots [[buffer(1)]],
                          device const int* experts [[buffer(2)]],
                          device const long* table [[buffer(3)]],
                          device const float* weights [[buffer(4)]],
                          device float* inner [[buffer(5)]],
                          constant pagoda_args::Adapters& args [[buffer(6)]],
                          uint3 tg [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  const long entry = adapter_entry(slots, experts, args, tg.z, tg.y);
  if (entry < 0 || long(tg.x) >= table[entry + 2]) {
    return;
  }
  device const float* a = weights + table[entry] + long(tg.x) * args.cols;
  device const float* row = x + long(tg.z / args.rows_per_x) * args.x_stride;
  float sum = 0.0f;
  for (uint k = lane; k < args.cols; k += 32) {
    sum += a[k] * row[k];
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    inner[long(tg.z) * args.inner_stride + tg.y * args.max_rank + tg.x] = sum;
  }
}
[[max_total_threads_per_threadgroup(128)]]
kernel void adapters_up(device const int* slots [[buffer(0)]],
                        device const int* experts [[buffer(1)]],
                        device const long* table [[buffer(2)]],
                        device const float* weights [[buffer(3)]],
                        device const float* inner [[buffer(4)]],
                        device float* out [[buffer(5)]],
                        constant pagoda_args::Adapters& args [[buffer(6)]],
                        uint3 tg [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]]) {
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
  device const float* b = weights + table[entry + 1] + column;
  device const float* from = inner + long(tg.z) * args.inner_stride + tg.y * args.max_rank;
  float sum = 0.0f;
  for (long r = 0; r < rank; ++r) {
    sum += from[r] * b[r * count];
  }
  out[long(tg.z) * args.out_stride + args.first[tg.y] + column] += sum;
}
[[max_total_threads_per_threadgroup(128)]]
kernel void silu_mul(device const float* x [[buffer(0)]],
                     device float* out [[buffer(1)]],
                     constant pagoda_args::GeluMul& args [[buffer(2)]],
                     uint2 tg [[threadgroup_position_in_grid]],
                     uint tid [[thread_index_in_threadgroup]]) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.width) {
    return;
  }
  device const float* row = x + long(tg.y) * args.x_stride;
  const float gate = row[i];
  const float up = row[args.width + i];
  out[long(tg.y) * args.out_stride + i] = silu(gate) * up;
}
)msl",
R"msl(#define MSL_KERNEL_adapters_down(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, const int* slots, const int* experts, const long* table, const float* weights, float* inner, const pagoda_args::Adapters args) { msl_let_dependents_begin(); msl_wait_for_inputs(); adapters_down(x, slots, experts, table, weights, inner, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_KERNEL_adapters_up(BOUNDS) MSL_GLOBAL(BOUNDS)(const int* slots, const int* experts, const long* table, const float* weights, const float* inner, float* out, const pagoda_args::Adapters args) { msl_let_dependents_begin(); msl_wait_for_inputs(); adapters_up(slots, experts, table, weights, inner, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_silu_mul(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, float* out, const pagoda_args::GeluMul args) { msl_let_dependents_begin(); msl_wait_for_inputs(); silu_mul(x, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_ENTRY_adapters_down MSL_KERNEL_adapters_down((32))
#define MSL_ENTRY_adapters_up MSL_KERNEL_adapters_up((128))
#define MSL_ENTRY_silu_mul MSL_KERNEL_silu_mul((128))
)msl"};
}
}  // namespace pagoda::device::gpu::generated

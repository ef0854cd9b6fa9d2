// add_adapters in two launches: inner = A x, then out += B inner, for the rows that have an adapter. silu_mul: silu of
// the first half of a row times the second.
#include "args/adapters.h"
#include "args/rows.h"
#include "common.h"

// The entry of a row's adapter in the table, or a negative index if it has none.
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

// Grid: [max_rank, parts, rows of out]. One simdgroup per element of inner.
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

// Grid: [columns of the widest part / 128, parts, rows of out]
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

// Grid: [width / 128, rows]. out may be the first half of x.
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

// The text of sample.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource sample_source() noexcept {
  return {"sample",
R"msl(#include "args/sample.h"
#include "candidates.h"
METAL_FUNC float multiply_add(float a, float b, float c) {
  const float product = a * b;
  return product + c;
}
METAL_FUNC float weight_of(float x) {
  const float bounded = x > -87.0f ? x : -87.0f;
  const float shifted = multiply_add(bounded, 1.44269502f, 12582912.0f);
  const float n = shifted - 12582912.0f;
  float r = multiply_add(n, -0.693145752f, bounded);
  r = multiply_add(n, -1.42860677e-06f, r);
  float p = multiply_add(1.0f / 720.0f, r, 1.0f / 120.0f);
  p = multiply_add(p, r, 1.0f / 24.0f);
  p = multiply_add(p, r, 1.0f / 6.0f);
  p = multiply_add(p, r, 0.5f);
  p = multiply_add(p, r, 1.0f);
  p = multiply_add(p, r, 1.0f);
  const uint exponent = as_type<uint>(shifted) - 0x4b400000u + 127u;
  return x > -87.0f ? p * as_type<float>(exponent << 23) : 0.0f;
}
METAL_FUNC ulong whole_weight(float w) {
  const float scaled = w * 1048576.0f;
  const uint upper = uint(scaled);
  return (ulong(upper) << 20) + ulong((scaled - float(upper)) * 1048576.0f);
}
METAL_FUNC ulong multiply_high(ulong a, ulong b) {
  const ulong low = 0xffffffffu;
  const ulong middle = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (((a & low) * (b >> 32) + (middle & low)) >> 32);
}
METAL_FUNC float logit_in(ulong candidate) {
  const uint key = key_in(candidate);
  return as_type<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
}
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_parts(device const float* logits [[buffer(0)]],
                         device const pagoda_args::SampleRow* rows [[buffer(1)]],
                         device ulong* found [[buffer(2)]],
                         constant pagoda_args::Sample& args [[buffer(3)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint counts[3 * kSimdgroups];
  const uint wanted = min(rows[group.y].top_k, kMostKept);
  device const float* from = logits + long(group.y) * args.logits_stride;
  ulong mine[kEach];
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint id = (group.x * kEach + i) * kThreads + tid;
    mine[i] = 0;
    if (id < args.vocab) {
      mine[i] = candidate_of(from[id], id);
    }
  }
  device ulong* kept = found + (long(group.y) * args.parts + group.x) * kMostKept;
  keep_highest(mine, wanted, kept, counts, tid, lane, sg);
}
[[max_total_threads_per_threadgroup(256)]]
kernel void sample(device const ulong* found [[buffer(0)]],
                   device const pagoda_args::SampleRow* rows [[buffer(1)]],
                   device int* tokens [[buffer(2)]],
                   constant pagoda_args::Sample& args [[buffer(3)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint counts[3 * kSimdgroups];
  MSL_SHARED ulong kept[kMostKept];
  MSL_SHARED ulong weights[kMostKept];
  const uint wanted = min(rows[row].top_k, kMostKept);
  ulong mine[kEach];
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint at = i * kThreads + tid;
    mine[i] = 0;
    if (at < args.parts * wanted) {
      mine[i] = found[(long(row) * args.parts + at / wanted) * kMostKept + at % wanted];
    }
  }
  keep_highest(mine, wanted, (threadgroup ulong*)(kept), counts, tid, lane, sg);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong own = tid < wanted ? kept[tid] : 0ul;
  ulong highest = 0;
  for (uint i = 0; i < wanted; ++i) {
    highest = max(highest, kept[i]);
  }
  const float x = (logit_in(own) - logit_in(highest)) / rows[row].temperature;
  const ulong tempered = own != 0 ? whole_weight(weight_of(x)) : 0ul;
  const ulong weight = tempered >= rows[row].min_weight ? tempered : 0ul;
  if (tid < wanted) {
    weights[tid] = weight;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong total = 0;
  ulong likelier = 0;
  for (uint i = 0; i < wanted; ++i) {
    total += weights[i];
    likelier += kept[i] > own ? weights[i] : 0ul;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong left = likelier < multiply_high(total, rows[row].top_p) + 1 ? weight : 0ul;
  if (tid < wanted) {
    weights[tid] = left;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong all = 0;
  ulong before = 0;
  for (uint i = 0; i < wanted; ++i) {
    all += weights[i];
    before += id_in(kept[i]) < id_in(own) ? weights[i] : 0ul;
  }
  const ulong target = multiply_high(all, rows[row].random);
  const bool is_refused = highest == 0 || key_in(highest) == kRefused;
  if (tid == 0 && is_refused) {
    tokens[row] = -1;
  }
  if (!is_refused && before <= target && target < before + left) {
    tokens[row] = int(id_in(own));
  }
}
)msl",
R"msl(#define MSL_KERNEL_sample_parts(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, const pagoda_args::SampleRow* rows, ulong* found, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_parts(logits, rows, found, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_KERNEL_sample(BOUNDS) MSL_GLOBAL(BOUNDS)(const ulong* found, const pagoda_args::SampleRow* rows, int* tokens, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample(found, rows, tokens, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_sample_parts MSL_KERNEL_sample_parts((256))
#define MSL_ENTRY_sample MSL_KERNEL_sample((256))
)msl"};
}
}  // namespace pagoda::device::gpu::generated

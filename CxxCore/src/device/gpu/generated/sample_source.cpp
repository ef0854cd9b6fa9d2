// The text of sample.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource sample_source() noexcept {
  return {"sample",
R"msl(#include "edits.h"
#include "weights.h"
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_parts(device const float* logits [[buffer(0)]],
                         device const pagoda_args::SampleRow* rows [[buffer(1)]],
                         device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                         device const uint* masks [[buffer(3)]],
                         device ulong* found [[buffer(4)]],
                         device uint* highest [[buffer(5)]],
                         constant pagoda_args::Sample& args [[buffer(6)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint keys[kSimdgroups];
  MSL_SHARED uint counts[3 * kSimdgroups];
  MSL_SHARED float values[kPart];
  device const pagoda_args::SampleRow* row = rows + group.y;
  if ((args.is_raw != 0 ? row[0].num_logprobs : row[0].top_k) == 0) {
    return;
  }
  const uint wanted = args.is_raw != 0 ? row[0].num_logprobs : wanted_of(row);
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (threadgroup float*)(values), tid, own);
  ulong mine[kEach];
  uint key = 0;
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    mine[i] = candidate_of(own[i], (i * args.parts + group.x) * kThreads + tid);
    key = max(key, key_in(mine[i]));
  }
  key = highest_key(key, keys, lane, sg);
  if (tid == 0) {
    highest[group.y * args.parts + group.x] = key;
  }
  if (wanted == 0) {
    return;
  }
  device ulong* kept = found + (long(group.y) * args.parts + group.x) * kThreads;
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
  const uint wanted = wanted_of(rows + row);
  if (rows[row].is_whole != 0) {
    return;
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kThreads, args.parts, wanted, tid, mine);
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
R"msl(#define MSL_KERNEL_sample_parts(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, const pagoda_args::SampleRow* rows, const pagoda_args::SampleEdit* edits, const uint* masks, ulong* found, uint* highest, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_parts(logits, rows, edits, masks, found, highest, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_KERNEL_sample(BOUNDS) MSL_GLOBAL(BOUNDS)(const ulong* found, const pagoda_args::SampleRow* rows, int* tokens, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample(found, rows, tokens, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_sample_parts MSL_KERNEL_sample_parts((256))
#define MSL_ENTRY_sample MSL_KERNEL_sample((256))
)msl"};
}
}  // namespace pagoda::device::gpu::generated

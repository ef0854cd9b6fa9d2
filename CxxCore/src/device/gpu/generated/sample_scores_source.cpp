// The text of sample_scores.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource sample_scores_source() noexcept {
  return {"sample_scores",
R"msl(#include "edits.h"
#include "weights.h"
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_scores(device const float* logits [[buffer(0)]],
                          device const pagoda_args::SampleRow* rows [[buffer(1)]],
                          device const ulong* found [[buffer(2)]],
                          device const uint* highest [[buffer(3)]],
                          device const ulong* sums [[buffer(4)]],
                          device int* tokens [[buffer(5)]],
                          device pagoda_args::SampleScore* scores [[buffer(6)]],
                          constant pagoda_args::Sample& args [[buffer(7)]],
                          uint row [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint keys[kSimdgroups];
  MSL_SHARED uint counts[3 * kSimdgroups];
  MSL_SHARED ulong masses[kSimdgroups];
  MSL_SHARED ulong kept[kMostKept];
  const uint wanted = rows[row].num_logprobs;
  if (wanted == 0) {
    return;
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kThreads, args.parts, wanted, tid, mine);
  const uint key = highest_in(highest + row * args.parts, args.parts, keys, tid, lane, sg);
  keep_highest(mine, wanted, (threadgroup ulong*)(kept), counts, tid, lane, sg);
  ulong own = 0;
  for (uint i = tid; i < kEach * args.parts; i += kThreads) {
    own += sums[long(row) * kEach * args.parts + i];
  }
  const ulong total = mass_of(own, (threadgroup ulong*)(masses), lane, sg);
  if (tid < wanted) {
    scores[row].ids[tid] = id_in(kept[tid]);
    scores[row].logits[tid] = logit_in(kept[tid]);
  }
  if (tid == 0) {
    const int token = tokens[row];
    bool is_full = token >= 0;
    for (uint i = 0; i < wanted; ++i) {
      is_full = is_full && kept[i] != 0;
    }
    scores[row].total = total;
    scores[row].highest = logit_of(key);
    scores[row].chosen = is_full ? logits[long(row) * args.logits_stride + token] : 0.0f;
    tokens[row] = is_full ? token : -1;
  }
}
)msl",
R"msl(#define MSL_KERNEL_sample_scores(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, const pagoda_args::SampleRow* rows, const ulong* found, const uint* highest, const ulong* sums, int* tokens, pagoda_args::SampleScore* scores, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_scores(logits, rows, found, highest, sums, tokens, scores, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_sample_scores MSL_KERNEL_sample_scores((256))
)msl"};
}
}  // namespace pagoda::device::gpu::generated

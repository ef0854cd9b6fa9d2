// sample: what log probabilities need of a row, from its logits before any change; sampler/ computes them from it. A
// row that has fewer tokens than are wanted gives token -1: the sampler reads its logits.
#include "edits.h"
#include "weights.h"

// Grid: [rows]
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
  threadgroup uint keys[kSimdgroups];
  threadgroup uint counts[3 * kSimdgroups];
  threadgroup ulong masses[kSimdgroups];
  threadgroup ulong kept[kMostKept];
  const uint wanted = rows[row].num_logprobs;
  if (wanted == 0) {
    return;  // all threads
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

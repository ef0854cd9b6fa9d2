// The text of sample_nucleus.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource sample_nucleus_source() noexcept {
  return {"sample_nucleus",
R"msl(#include "edits.h"
#include "weights.h"
constant constexpr uint kMostEqual = 16;
METAL_FUNC ulong counted_weight(float x, device const pagoda_args::SampleRow* row) {
  const ulong weight = whole_weight(weight_of(x));
  return weight >= row[0].min_weight ? weight : 0ul;
}
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_masses(device const float* logits [[buffer(0)]],
                          device const pagoda_args::SampleRow* rows [[buffer(1)]],
                          device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                          device const uint* masks [[buffer(3)]],
                          device const uint* highest [[buffer(4)]],
                          device const pagoda_args::SampleCut* cuts [[buffer(5)]],
                          device ulong* found [[buffer(6)]],
                          constant pagoda_args::Sample& args [[buffer(7)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint keys[kSimdgroups];
  MSL_SHARED float values[kPart];
  MSL_SHARED atomic_uint masses[4 * kThreads];
  device const pagoda_args::SampleRow* row = rows + group.y;
  if (!has_nucleus(row)) {
    return;
  }
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    atomic_store_explicit(masses + i * kThreads + tid, 0u, memory_order_relaxed);
  }
  const uint key = highest_in(highest + group.y * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (threadgroup float*)(values), tid, own);
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const float x = (own[i] - logit_of(key)) / row[0].temperature;
    const ulong weight = counted_weight(x, row);
    uint bucket = bucket_of(x);
    const bool is_in = args.level == 0 || bucket == cuts[group.y].bucket[0];
    bucket = args.level == 0 ? bucket : finer_bucket_of(x);
    if (weight > 0 && is_in) {
      threadgroup atomic_uint* own_masses = masses + (sg % 2 * 2) * kThreads + bucket;
      atomic_fetch_add_explicit(own_masses, uint(weight) & 0xfffffu, memory_order_relaxed);
      atomic_fetch_add_explicit(own_masses + kThreads, uint(weight >> 20), memory_order_relaxed);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong mass = 0;
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const uint part = atomic_load_explicit(masses + i * kThreads + tid, memory_order_relaxed);
    mass += ulong(part) << (i % 2 * 20);
  }
  found[(long(group.y) * args.parts + group.x) * kThreads + tid] = mass;
}
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_bucket(device const pagoda_args::SampleRow* rows [[buffer(0)]],
                          device const uint* highest [[buffer(1)]],
                          device const ulong* found [[buffer(2)]],
                          device pagoda_args::SampleCut* cuts [[buffer(3)]],
                          constant pagoda_args::Sample& args [[buffer(4)]],
                          uint group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint keys[kSimdgroups];
  MSL_SHARED ulong masses[kThreads];
  MSL_SHARED ulong place[2];
  device const pagoda_args::SampleRow* row = rows + group;
  if (!has_nucleus(row)) {
    return;
  }
  const uint key = highest_in(highest + group * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  ulong own = 0;
  for (uint part = 0; part < args.parts; ++part) {
    own += found[(long(group) * args.parts + part) * kThreads + tid];
  }
  device pagoda_args::SampleCut* cut = cuts + group;
  const ulong rest = args.level == 0 ? 0ul : cut[0].rest[0];
  find_place(own, args.level == 0, rest, row[0].top_p, (threadgroup ulong*)(masses), (threadgroup ulong*)(place), tid);
  if (tid == 0) {
    cut[0].bucket[args.level] = uint(place[0]);
    cut[0].rest[args.level] = place[1];
  }
}
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_gather(device const float* logits [[buffer(0)]],
                          device const pagoda_args::SampleRow* rows [[buffer(1)]],
                          device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                          device const uint* masks [[buffer(3)]],
                          device const uint* highest [[buffer(4)]],
                          device const pagoda_args::SampleCut* cuts [[buffer(5)]],
                          device ulong* found [[buffer(6)]],
                          constant pagoda_args::Sample& args [[buffer(7)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint keys[kSimdgroups];
  MSL_SHARED uint totals[kSimdgroups];
  MSL_SHARED float values[kPart];
  device const pagoda_args::SampleRow* row = rows + group.y;
  if (!has_nucleus(row)) {
    return;
  }
  const uint key = highest_in(highest + group.y * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (threadgroup float*)(values), tid, own);
  device const pagoda_args::SampleCut* cut = cuts + group.y;
  ulong mine[kEach];
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const float x = (own[i] - logit_of(key)) / row[0].temperature;
    mine[i] = 0;
    if (bucket_of(x) == cut[0].bucket[0] && finer_bucket_of(x) == cut[0].bucket[1]) {
      mine[i] = candidate_of(own[i], (i * args.parts + group.x) * kThreads + tid);
    }
  }
  device ulong* kept = found + (long(group.y) * args.parts + group.x) * kThreads;
  keep_from(mine, 0ul, kMostEqual, kept, (threadgroup uint*)(totals), tid, lane, sg);
}
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_last(device const pagoda_args::SampleRow* rows [[buffer(0)]],
                        device const uint* highest [[buffer(1)]],
                        device const ulong* found [[buffer(2)]],
                        device pagoda_args::SampleCut* cuts [[buffer(3)]],
                        constant pagoda_args::Sample& args [[buffer(4)]],
                        uint group [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint keys[kSimdgroups];
  MSL_SHARED uint totals[kSimdgroups];
  MSL_SHARED ulong kept[kThreads];
  MSL_SHARED ulong weights[kThreads];
  device const pagoda_args::SampleRow* row = rows + group;
  if (!has_nucleus(row)) {
    return;
  }
  const uint key = highest_in(highest + group * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  ulong mine[kEach];
  load_found(found + long(group) * args.parts * kThreads, args.parts, kMostEqual, tid, mine);
  const uint all = keep_from(mine, 0ul, kThreads, (threadgroup ulong*)(kept), (threadgroup uint*)(totals), tid, lane, sg);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong own = kept[tid];
  const ulong weight = own != 0 ? counted_weight((logit_in(own) - logit_of(key)) / row[0].temperature, row) : 0ul;
  weights[tid] = weight;
  const uint highest_kept = highest_key(key_in(own), (threadgroup uint*)(totals), lane, sg);
  ulong likelier = 0;
  for (uint i = 0; i < min(all, kThreads); ++i) {
    likelier += kept[i] > own ? weights[i] : 0ul;
  }
  const ulong rest = cuts[group].rest[1];
  if (highest_kept == kRefused) {
    if (tid == 0) {
      cuts[group].last = ulong(kRefused) << 32;
    }
  } else if (likelier <= rest && rest < likelier + weight) {
    cuts[group].last = own;
  }
}
)msl",
R"msl(#define MSL_KERNEL_sample_masses(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, const pagoda_args::SampleRow* rows, const pagoda_args::SampleEdit* edits, const uint* masks, const uint* highest, const pagoda_args::SampleCut* cuts, ulong* found, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_masses(logits, rows, edits, masks, highest, cuts, found, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_KERNEL_sample_bucket(BOUNDS) MSL_GLOBAL(BOUNDS)(const pagoda_args::SampleRow* rows, const uint* highest, const ulong* found, pagoda_args::SampleCut* cuts, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_bucket(rows, highest, found, cuts, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_KERNEL_sample_gather(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, const pagoda_args::SampleRow* rows, const pagoda_args::SampleEdit* edits, const uint* masks, const uint* highest, const pagoda_args::SampleCut* cuts, ulong* found, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_gather(logits, rows, edits, masks, highest, cuts, found, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_KERNEL_sample_last(BOUNDS) MSL_GLOBAL(BOUNDS)(const pagoda_args::SampleRow* rows, const uint* highest, const ulong* found, pagoda_args::SampleCut* cuts, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_last(rows, highest, found, cuts, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_sample_masses MSL_KERNEL_sample_masses((256))
#define MSL_ENTRY_sample_bucket MSL_KERNEL_sample_bucket((256))
#define MSL_ENTRY_sample_gather MSL_KERNEL_sample_gather((256))
#define MSL_ENTRY_sample_last MSL_KERNEL_sample_last((256))
)msl"};
}
}  // namespace pagoda::device::gpu::generated

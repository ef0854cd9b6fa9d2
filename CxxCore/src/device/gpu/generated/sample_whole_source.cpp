// The text of sample_whole.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource sample_whole_source() noexcept {
  return {"sample_whole",
R"msl(#include "edits.h"
#include "weights.h"
METAL_FUNC ulong last_of(device const pagoda_args::SampleRow* row, device const pagoda_args::SampleCut* cut) {
  return has_nucleus(row) ? cut[0].last : 0ul;
}
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_sums(device const float* logits [[buffer(0)]],
                        device const pagoda_args::SampleRow* rows [[buffer(1)]],
                        device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                        device const uint* masks [[buffer(3)]],
                        device const uint* highest [[buffer(4)]],
                        device const pagoda_args::SampleCut* cuts [[buffer(5)]],
                        device ulong* sums [[buffer(6)]],
                        constant pagoda_args::Sample& args [[buffer(7)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint keys[kSimdgroups];
  MSL_SHARED float values[kPart];
  MSL_SHARED ulong partial[kEach * kSimdgroups];
  device const pagoda_args::SampleRow* row = rows + group.y;
  const bool is_raw = args.is_raw != 0;
  if (is_raw ? row[0].num_logprobs == 0 : row[0].is_whole == 0) {
    return;
  }
  const uint key = highest_in(highest + group.y * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  const float temperature = is_raw ? 1.0f : row[0].temperature;
  const ulong min_weight = is_raw ? 0ul : row[0].min_weight;
  const ulong last = is_raw ? 0ul : last_of(row, cuts + group.y);
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (threadgroup float*)(values), tid, own);
  ulong counted = 0;
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const ulong weight = whole_weight(weight_of((own[i] - logit_of(key)) / temperature));
    const ulong candidate = candidate_of(own[i], (i * args.parts + group.x) * kThreads + tid);
    counted = is_raw ? counted : 0ul;
    counted += weight >= min_weight && candidate >= last ? weight : 0ul;
    ulong sum = 0;
    if (is_raw ? i + 1 == kEach : simd_any(counted > 0)) {
      const uint upper = simd_sum(uint(counted >> 20));
      const uint lower = simd_sum(uint(counted) & 0xfffffu);
      sum = (ulong(upper) << 20) + lower;
    }
    if (lane == 0) {
      partial[i * kSimdgroups + sg] = sum;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid < kEach) {
    ulong sum = 0;
    for (uint i = 0; i < kSimdgroups; ++i) {
      sum += partial[tid * kSimdgroups + i];
    }
    sums[(long(group.y) * kEach + tid) * args.parts + group.x] = sum;
  }
}
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_anywhere(device const float* logits [[buffer(0)]],
                            device const pagoda_args::SampleRow* rows [[buffer(1)]],
                            device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                            device const uint* masks [[buffer(3)]],
                            device const uint* highest [[buffer(4)]],
                            device const pagoda_args::SampleCut* cuts [[buffer(5)]],
                            device const ulong* sums [[buffer(6)]],
                            device int* tokens [[buffer(7)]],
                            constant pagoda_args::Sample& args [[buffer(8)]],
                            uint group [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint keys[kSimdgroups];
  MSL_SHARED ulong weights[kThreads];
  MSL_SHARED float values[kThreads];
  MSL_SHARED ulong place[2];
  device const pagoda_args::SampleRow* row = rows + group;
  if (row[0].is_whole == 0) {
    return;
  }
  const uint key = highest_in(highest + group * args.parts, args.parts, keys, tid, lane, sg);
  const ulong last = last_of(row, cuts + group);
  if (key == 0 || key == kRefused || key_in(last) == kRefused) {
    if (tid == 0) {
      tokens[group] = -1;
    }
    return;
  }
  device const ulong* own_sums = sums + long(group) * kEach * args.parts;
  const uint chunks = kEach * args.parts;
  ulong own = 0;
  for (uint i = tid * 4; i < min(tid * 4 + 4, chunks); ++i) {
    own += own_sums[i];
  }
  find_place(own, true, 0ul, row[0].random, (threadgroup ulong*)(weights), (threadgroup ulong*)(place), tid);
  uint chunk = uint(place[0]) * 4;
  ulong rest = place[1];
  while (rest >= own_sums[chunk]) {
    rest -= own_sums[chunk];
    ++chunk;
  }
  const uint begin = chunk * kThreads;
  values[tid] = as_type<float>(kMinusInfinityBits);
  if (begin + tid < args.vocab) {
    values[tid] = masked(logits[long(group) * args.logits_stride + begin + tid], masks, row[0].mask, args.mask_words,
                         begin + tid);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = tid; e < row[0].num_edits; e += kThreads) {
    device const pagoda_args::SampleEdit* edit = edits + row[0].first_edit + e;
    if (edit[0].id >= begin && edit[0].id < begin + kThreads) {
      const uint at = edit[0].id - begin;
      values[at] = edited(values[at], edit[0].bias, edit[0].repetition, edit[0].penalty);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong weight = whole_weight(weight_of((values[tid] - logit_of(key)) / row[0].temperature));
  const bool is_kept = weight >= row[0].min_weight && candidate_of(values[tid], begin + tid) >= last;
  find_place(is_kept ? weight : 0ul, false, rest, 0ul, (threadgroup ulong*)(weights), (threadgroup ulong*)(place), tid);
  if (tid == 0) {
    tokens[group] = int(begin + uint(place[0]));
  }
}
)msl",
R"msl(#define MSL_KERNEL_sample_sums(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, const pagoda_args::SampleRow* rows, const pagoda_args::SampleEdit* edits, const uint* masks, const uint* highest, const pagoda_args::SampleCut* cuts, ulong* sums, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_sums(logits, rows, edits, masks, highest, cuts, sums, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_KERNEL_sample_anywhere(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, const pagoda_args::SampleRow* rows, const pagoda_args::SampleEdit* edits, const uint* masks, const uint* highest, const pagoda_args::SampleCut* cuts, const ulong* sums, int* tokens, const pagoda_args::Sample args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sample_anywhere(logits, rows, edits, masks, highest, cuts, sums, tokens, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_sample_sums MSL_KERNEL_sample_sums((256))
#define MSL_ENTRY_sample_anywhere MSL_KERNEL_sample_anywhere((256))
)msl"};
}
}  // namespace pagoda::device::gpu::generated

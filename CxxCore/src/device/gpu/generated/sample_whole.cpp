// sample_whole.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/sample_whole.metal"
#include "device/gpu/generated/edits.h"
#include "device/gpu/generated/weights.h"


METAL_FUNC ulong last_of(MSL_DEVICE const pagoda_args::SampleRow* row, MSL_DEVICE const pagoda_args::SampleCut* cut) {
  return has_nucleus(row) ? cut[0].last : 0ul;
}
# 13 "Shaders/sample_whole.metal"
MSL_KERNEL void sample_sums(MSL_DEVICE const float* logits ,
                        MSL_DEVICE const pagoda_args::SampleRow* rows ,
                        MSL_DEVICE const pagoda_args::SampleEdit* edits ,
                        MSL_DEVICE const uint* masks ,
                        MSL_DEVICE const uint* highest ,
                        MSL_DEVICE const pagoda_args::SampleCut* cuts ,
                        MSL_DEVICE ulong* sums ,
                        MSL_CONSTANT pagoda_args::Sample& args ,
                        uint2 group ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  MSL_TG_VAR(1, keys, [kSimdgroups], uint)
  MSL_TG_VAR(2, values, [kPart], float)
  MSL_TG_VAR(3, partial, [kEach*kSimdgroups], ulong)
  MSL_DEVICE const pagoda_args::SampleRow* row = rows + group.y;
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
            (MSL_THREADGROUP float*)(values), tid, own);
  ulong counted = 0;

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
    for (uint i = 0; MSL_LOOP(i < kSimdgroups); ++i) {
      sum += partial[tid * kSimdgroups + i];
    }
    sums[(long(group.y) * kEach + tid) * args.parts + group.x] = sum;
  }
}
# 72 "Shaders/sample_whole.metal"
MSL_KERNEL void sample_anywhere(MSL_DEVICE const float* logits ,
                            MSL_DEVICE const pagoda_args::SampleRow* rows ,
                            MSL_DEVICE const pagoda_args::SampleEdit* edits ,
                            MSL_DEVICE const uint* masks ,
                            MSL_DEVICE const uint* highest ,
                            MSL_DEVICE const pagoda_args::SampleCut* cuts ,
                            MSL_DEVICE const ulong* sums ,
                            MSL_DEVICE int* tokens ,
                            MSL_CONSTANT pagoda_args::Sample& args ,
                            uint group ,
                            uint tid ,
                            uint sg ,
                            uint lane ) {
  MSL_TG_VAR(4, keys, [kSimdgroups], uint)
  MSL_TG_VAR(5, weights, [kThreads], ulong)
  MSL_TG_VAR(6, values, [kThreads], float)
  MSL_TG_VAR(7, place, [2], ulong)
  MSL_DEVICE const pagoda_args::SampleRow* row = rows + group;
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
  MSL_DEVICE const ulong* own_sums = sums + long(group) * kEach * args.parts;
  const uint chunks = kEach * args.parts;
  ulong own = 0;
  for (uint i = tid * 4; MSL_LOOP(i < min(tid * 4 + 4, chunks)); ++i) {
    own += own_sums[i];
  }
  find_place(own, true, 0ul, row[0].random, (MSL_THREADGROUP ulong*)(weights), (MSL_THREADGROUP ulong*)(place), tid);
  uint chunk = uint(place[0]) * 4;
  ulong rest = place[1];
  while (MSL_LOOP(rest >= own_sums[chunk])) {
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
  for (uint e = tid; MSL_LOOP(e < row[0].num_edits); e += kThreads) {
    MSL_DEVICE const pagoda_args::SampleEdit* edit = edits + row[0].first_edit + e;
    if (edit[0].id >= begin && edit[0].id < begin + kThreads) {
      const uint at = edit[0].id - begin;
      values[at] = edited(values[at], edit[0].bias, edit[0].repetition, edit[0].penalty);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong weight = whole_weight(weight_of((values[tid] - logit_of(key)) / row[0].temperature));
  const bool is_kept = weight >= row[0].min_weight && candidate_of(values[tid], begin + tid) >= last;
  find_place(is_kept ? weight : 0ul, false, rest, 0ul, (MSL_THREADGROUP ulong*)(weights), (MSL_THREADGROUP ulong*)(place), tid);
  if (tid == 0) {
    tokens[group] = int(begin + uint(place[0]));
  }
}
# 1 "sample_whole.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"edits", 2, BindingKind::buffer, sizeof(pagoda_args::SampleEdit), false}, {"masks", 3, BindingKind::buffer, sizeof(uint), false}, {"highest", 4, BindingKind::buffer, sizeof(uint), false}, {"cuts", 5, BindingKind::buffer, sizeof(pagoda_args::SampleCut), false}, {"sums", 6, BindingKind::buffer, sizeof(ulong), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_sums((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (const pagoda_args::SampleEdit*)in.buffers[2], (const uint*)in.buffers[3], (const uint*)in.buffers[4], (const pagoda_args::SampleCut*)in.buffers[5], (ulong*)in.buffers[6], *(const pagoda_args::Sample*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"edits", 2, BindingKind::buffer, sizeof(pagoda_args::SampleEdit), false}, {"masks", 3, BindingKind::buffer, sizeof(uint), false}, {"highest", 4, BindingKind::buffer, sizeof(uint), false}, {"cuts", 5, BindingKind::buffer, sizeof(pagoda_args::SampleCut), false}, {"sums", 6, BindingKind::buffer, sizeof(ulong), false}, {"tokens", 7, BindingKind::buffer, sizeof(int), true}, {"args", 8, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_anywhere((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (const pagoda_args::SampleEdit*)in.buffers[2], (const uint*)in.buffers[3], (const uint*)in.buffers[4], (const pagoda_args::SampleCut*)in.buffers[5], (const ulong*)in.buffers[6], (int*)in.buffers[7], *(const pagoda_args::Sample*)in.buffers[8], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"sample_sums", "sample_whole", msl_bindings_0, {}, 256, msl_entry_0},
  {"sample_anywhere", "sample_whole", msl_bindings_1, {}, 256, msl_entry_1},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sample_whole_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated

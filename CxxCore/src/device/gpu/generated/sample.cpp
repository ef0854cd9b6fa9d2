// sample.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/sample.metal"
#include "device/gpu/generated/edits.h"
#include "device/gpu/generated/weights.h"
# 8 "Shaders/sample.metal"
MSL_KERNEL void sample_parts(MSL_DEVICE const float* logits ,
                         MSL_DEVICE const pagoda_args::SampleRow* rows ,
                         MSL_DEVICE const pagoda_args::SampleEdit* edits ,
                         MSL_DEVICE const uint* masks ,
                         MSL_DEVICE ulong* found ,
                         MSL_DEVICE uint* highest ,
                         MSL_CONSTANT pagoda_args::Sample& args ,
                         uint2 group ,
                         uint tid ,
                         uint sg ,
                         uint lane ) {
  MSL_TG_VAR(1, keys, [kSimdgroups], uint)
  MSL_TG_VAR(2, counts, [3*kSimdgroups], uint)
  MSL_TG_VAR(3, values, [kPart], float)
  MSL_DEVICE const pagoda_args::SampleRow* row = rows + group.y;
  if ((args.is_raw != 0 ? row[0].num_logprobs : row[0].top_k) == 0) {
    return;
  }
  const uint wanted = args.is_raw != 0 ? row[0].num_logprobs : wanted_of(row);
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (MSL_THREADGROUP float*)(values), tid, own);
  ulong mine[kEach];
  uint key = 0;

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
  MSL_DEVICE ulong* kept = found + (long(group.y) * args.parts + group.x) * kThreads;
  keep_highest(mine, wanted, kept, counts, tid, lane, sg);
}
# 50 "Shaders/sample.metal"
MSL_KERNEL void sample(MSL_DEVICE const ulong* found ,
                   MSL_DEVICE const pagoda_args::SampleRow* rows ,
                   MSL_DEVICE int* tokens ,
                   MSL_CONSTANT pagoda_args::Sample& args ,
                   uint row ,
                   uint tid ,
                   uint sg ,
                   uint lane ) {
  MSL_TG_VAR(4, counts, [3*kSimdgroups], uint)
  MSL_TG_VAR(5, kept, [kMostKept], ulong)
  MSL_TG_VAR(6, weights, [kMostKept], ulong)
  const uint wanted = wanted_of(rows + row);
  if (rows[row].is_whole != 0) {
    return;
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kThreads, args.parts, wanted, tid, mine);
  keep_highest(mine, wanted, (MSL_THREADGROUP ulong*)(kept), counts, tid, lane, sg);
  threadgroup_barrier(mem_flags::mem_threadgroup);


  const ulong own = tid < wanted ? kept[tid] : 0ul;
  ulong highest = 0;
  for (uint i = 0; MSL_LOOP(i < wanted); ++i) {
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
  for (uint i = 0; MSL_LOOP(i < wanted); ++i) {
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
  for (uint i = 0; MSL_LOOP(i < wanted); ++i) {
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
# 1 "sample.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"edits", 2, BindingKind::buffer, sizeof(pagoda_args::SampleEdit), false}, {"masks", 3, BindingKind::buffer, sizeof(uint), false}, {"found", 4, BindingKind::buffer, sizeof(ulong), true}, {"highest", 5, BindingKind::buffer, sizeof(uint), true}, {"args", 6, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_parts((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (const pagoda_args::SampleEdit*)in.buffers[2], (const uint*)in.buffers[3], (ulong*)in.buffers[4], (uint*)in.buffers[5], *(const pagoda_args::Sample*)in.buffers[6], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"found", 0, BindingKind::buffer, sizeof(ulong), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"tokens", 2, BindingKind::buffer, sizeof(int), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample((const ulong*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (int*)in.buffers[2], *(const pagoda_args::Sample*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"sample_parts", "sample", msl_bindings_0, {}, 256, msl_entry_0},
  {"sample", "sample", msl_bindings_1, {}, 256, msl_entry_1},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sample_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated

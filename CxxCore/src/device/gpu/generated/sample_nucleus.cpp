// sample_nucleus.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 4 "Shaders/sample_nucleus.metal"
#include "device/gpu/generated/edits.h"
#include "device/gpu/generated/weights.h"

MSL_CONSTANT constexpr uint kMostEqual = 16;


METAL_FUNC ulong counted_weight(float x, MSL_DEVICE const pagoda_args::SampleRow* row) {
  const ulong weight = whole_weight(weight_of(x));
  return weight >= row[0].min_weight ? weight : 0ul;
}
# 17 "Shaders/sample_nucleus.metal"
MSL_KERNEL void sample_masses(MSL_DEVICE const float* logits ,
                          MSL_DEVICE const pagoda_args::SampleRow* rows ,
                          MSL_DEVICE const pagoda_args::SampleEdit* edits ,
                          MSL_DEVICE const uint* masks ,
                          MSL_DEVICE const uint* highest ,
                          MSL_DEVICE const pagoda_args::SampleCut* cuts ,
                          MSL_DEVICE ulong* found ,
                          MSL_CONSTANT pagoda_args::Sample& args ,
                          uint2 group ,
                          uint tid ,
                          uint sg ,
                          uint lane ) {
  MSL_TG_VAR(1, keys, [kSimdgroups], uint)
  MSL_TG_VAR(2, values, [kPart], float)
  MSL_TG_VAR(3, masses, [4*kThreads], atomic_uint)
  MSL_DEVICE const pagoda_args::SampleRow* row = rows + group.y;
  if (!has_nucleus(row)) {
    return;
  }

  for (uint i = 0; i < 4; ++i) {
    atomic_store_explicit(masses + i * kThreads + tid, 0u, memory_order_relaxed);
  }
  const uint key = highest_in(highest + group.y * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (MSL_THREADGROUP float*)(values), tid, own);

  for (uint i = 0; i < kEach; ++i) {
    const float x = (own[i] - logit_of(key)) / row[0].temperature;
    const ulong weight = counted_weight(x, row);
    uint bucket = bucket_of(x);
    const bool is_in = args.level == 0 || bucket == cuts[group.y].bucket[0];
    bucket = args.level == 0 ? bucket : finer_bucket_of(x);
    if (weight > 0 && is_in) {
      MSL_THREADGROUP atomic_uint* own_masses = masses + (sg % 2 * 2) * kThreads + bucket;
      atomic_fetch_add_explicit(own_masses, uint(weight) & 0xfffffu, memory_order_relaxed);
      atomic_fetch_add_explicit(own_masses + kThreads, uint(weight >> 20), memory_order_relaxed);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong mass = 0;

  for (uint i = 0; i < 4; ++i) {
    const uint part = atomic_load_explicit(masses + i * kThreads + tid, memory_order_relaxed);
    mass += ulong(part) << (i % 2 * 20);
  }
  found[(long(group.y) * args.parts + group.x) * kThreads + tid] = mass;
}
# 72 "Shaders/sample_nucleus.metal"
MSL_KERNEL void sample_bucket(MSL_DEVICE const pagoda_args::SampleRow* rows ,
                          MSL_DEVICE const uint* highest ,
                          MSL_DEVICE const ulong* found ,
                          MSL_DEVICE pagoda_args::SampleCut* cuts ,
                          MSL_CONSTANT pagoda_args::Sample& args ,
                          uint group ,
                          uint tid ,
                          uint sg ,
                          uint lane ) {
  MSL_TG_VAR(4, keys, [kSimdgroups], uint)
  MSL_TG_VAR(5, masses, [kThreads], ulong)
  MSL_TG_VAR(6, place, [2], ulong)
  MSL_DEVICE const pagoda_args::SampleRow* row = rows + group;
  if (!has_nucleus(row)) {
    return;
  }
  const uint key = highest_in(highest + group * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  ulong own = 0;
  for (uint part = 0; MSL_LOOP(part < args.parts); ++part) {
    own += found[(long(group) * args.parts + part) * kThreads + tid];
  }
  MSL_DEVICE pagoda_args::SampleCut* cut = cuts + group;
  const ulong rest = args.level == 0 ? 0ul : cut[0].rest[0];
  find_place(own, args.level == 0, rest, row[0].top_p, (MSL_THREADGROUP ulong*)(masses), (MSL_THREADGROUP ulong*)(place), tid);
  if (tid == 0) {
    cut[0].bucket[args.level] = uint(place[0]);
    cut[0].rest[args.level] = place[1];
  }
}
# 107 "Shaders/sample_nucleus.metal"
MSL_KERNEL void sample_gather(MSL_DEVICE const float* logits ,
                          MSL_DEVICE const pagoda_args::SampleRow* rows ,
                          MSL_DEVICE const pagoda_args::SampleEdit* edits ,
                          MSL_DEVICE const uint* masks ,
                          MSL_DEVICE const uint* highest ,
                          MSL_DEVICE const pagoda_args::SampleCut* cuts ,
                          MSL_DEVICE ulong* found ,
                          MSL_CONSTANT pagoda_args::Sample& args ,
                          uint2 group ,
                          uint tid ,
                          uint sg ,
                          uint lane ) {
  MSL_TG_VAR(7, keys, [kSimdgroups], uint)
  MSL_TG_VAR(8, totals, [kSimdgroups], uint)
  MSL_TG_VAR(9, values, [kPart], float)
  MSL_DEVICE const pagoda_args::SampleRow* row = rows + group.y;
  if (!has_nucleus(row)) {
    return;
  }
  const uint key = highest_in(highest + group.y * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (MSL_THREADGROUP float*)(values), tid, own);
  MSL_DEVICE const pagoda_args::SampleCut* cut = cuts + group.y;
  ulong mine[kEach];

  for (uint i = 0; i < kEach; ++i) {
    const float x = (own[i] - logit_of(key)) / row[0].temperature;
    mine[i] = 0;
    if (bucket_of(x) == cut[0].bucket[0] && finer_bucket_of(x) == cut[0].bucket[1]) {
      mine[i] = candidate_of(own[i], (i * args.parts + group.x) * kThreads + tid);
    }
  }
  MSL_DEVICE ulong* kept = found + (long(group.y) * args.parts + group.x) * kThreads;
  keep_from(mine, 0ul, kMostEqual, kept, (MSL_THREADGROUP uint*)(totals), tid, lane, sg);
}
# 149 "Shaders/sample_nucleus.metal"
MSL_KERNEL void sample_last(MSL_DEVICE const pagoda_args::SampleRow* rows ,
                        MSL_DEVICE const uint* highest ,
                        MSL_DEVICE const ulong* found ,
                        MSL_DEVICE pagoda_args::SampleCut* cuts ,
                        MSL_CONSTANT pagoda_args::Sample& args ,
                        uint group ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  MSL_TG_VAR(10, keys, [kSimdgroups], uint)
  MSL_TG_VAR(11, totals, [kSimdgroups], uint)
  MSL_TG_VAR(12, kept, [kThreads], ulong)
  MSL_TG_VAR(13, weights, [kThreads], ulong)
  MSL_DEVICE const pagoda_args::SampleRow* row = rows + group;
  if (!has_nucleus(row)) {
    return;
  }
  const uint key = highest_in(highest + group * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  ulong mine[kEach];
  load_found(found + long(group) * args.parts * kThreads, args.parts, kMostEqual, tid, mine);
  const uint all = keep_from(mine, 0ul, kThreads, (MSL_THREADGROUP ulong*)(kept), (MSL_THREADGROUP uint*)(totals), tid, lane, sg);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong own = kept[tid];
  const ulong weight = own != 0 ? counted_weight((logit_in(own) - logit_of(key)) / row[0].temperature, row) : 0ul;
  weights[tid] = weight;
  const uint highest_kept = highest_key(key_in(own), (MSL_THREADGROUP uint*)(totals), lane, sg);
  ulong likelier = 0;
  for (uint i = 0; MSL_LOOP(i < min(all, kThreads)); ++i) {
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
# 1 "sample_nucleus.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"edits", 2, BindingKind::buffer, sizeof(pagoda_args::SampleEdit), false}, {"masks", 3, BindingKind::buffer, sizeof(uint), false}, {"highest", 4, BindingKind::buffer, sizeof(uint), false}, {"cuts", 5, BindingKind::buffer, sizeof(pagoda_args::SampleCut), false}, {"found", 6, BindingKind::buffer, sizeof(ulong), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_masses((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (const pagoda_args::SampleEdit*)in.buffers[2], (const uint*)in.buffers[3], (const uint*)in.buffers[4], (const pagoda_args::SampleCut*)in.buffers[5], (ulong*)in.buffers[6], *(const pagoda_args::Sample*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"rows", 0, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"highest", 1, BindingKind::buffer, sizeof(uint), false}, {"found", 2, BindingKind::buffer, sizeof(ulong), false}, {"cuts", 3, BindingKind::buffer, sizeof(pagoda_args::SampleCut), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_bucket((const pagoda_args::SampleRow*)in.buffers[0], (const uint*)in.buffers[1], (const ulong*)in.buffers[2], (pagoda_args::SampleCut*)in.buffers[3], *(const pagoda_args::Sample*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_gather((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (const pagoda_args::SampleEdit*)in.buffers[2], (const uint*)in.buffers[3], (const uint*)in.buffers[4], (const pagoda_args::SampleCut*)in.buffers[5], (ulong*)in.buffers[6], *(const pagoda_args::Sample*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_last((const pagoda_args::SampleRow*)in.buffers[0], (const uint*)in.buffers[1], (const ulong*)in.buffers[2], (pagoda_args::SampleCut*)in.buffers[3], *(const pagoda_args::Sample*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"sample_masses", "sample_nucleus", msl_bindings_0, {}, 256, msl_entry_0},
  {"sample_bucket", "sample_nucleus", msl_bindings_1, {}, 256, msl_entry_1},
  {"sample_gather", "sample_nucleus", msl_bindings_0, {}, 256, msl_entry_2},
  {"sample_last", "sample_nucleus", msl_bindings_1, {}, 256, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sample_nucleus_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated

// sample_whole.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 4 "Shaders/sample_whole.metal"
#include "device/gpu/generated/edits.h"
#include "device/gpu/generated/weights.h"
# 9 "Shaders/sample_whole.metal"
MSL_KERNEL void sample_sums(MSL_DEVICE const float* logits ,
                        MSL_DEVICE const pagoda_args::SampleRow* rows ,
                        MSL_DEVICE const pagoda_args::SampleEdit* edits ,
                        MSL_DEVICE const uint* masks ,
                        MSL_DEVICE const ulong* found ,
                        MSL_DEVICE ulong* sums ,
                        MSL_CONSTANT pagoda_args::Sample& args ,
                        uint2 group ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  MSL_TG_VAR(1, keys, [kSimdgroups], uint)
  MSL_TG_VAR(2, values, [kPart], float)
  MSL_TG_VAR(3, partial, [kEach*kSimdgroups], ulong)
  const bool is_wanted = args.is_raw != 0 ? rows[group.y].num_logprobs > 0 : rows[group.y].is_whole != 0;
  if (!is_wanted) {
    return;
  }
  ulong mine[kEach];
  const uint kept = args.is_raw != 0 ? rows[group.y].num_logprobs : kMostKept;
  load_found(found + long(group.y) * args.parts * kMostKept, args.parts, kept, tid, mine);
  const uint key = highest_key(mine, keys, lane, sg);
  if (key == 0 || key == kRefused) {
    return;
  }
  const float highest = logit_of(key);
  const float temperature = args.is_raw != 0 ? 1.0f : rows[group.y].temperature;
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, rows + group.y, edits, masks, args, group.x,
            (MSL_THREADGROUP float*)(values), tid, own);

  for (uint i = 0; i < kEach; ++i) {
    const ulong weight = whole_weight(weight_of((own[i] - highest) / temperature));
    const uint upper = simd_sum(uint(weight >> 20));
    const uint lower = simd_sum(uint(weight) & 0xfffffu);
    if (lane == 0) {
      partial[i * kSimdgroups + sg] = (ulong(upper) << 20) + lower;
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
# 60 "Shaders/sample_whole.metal"
METAL_FUNC void find_chunk(MSL_DEVICE const ulong* sums, uint chunks, ulong random, MSL_THREADGROUP ulong* own_sums,
                           MSL_THREADGROUP uint* found, MSL_THREADGROUP ulong* place, uint tid) {
  ulong own = 0;
  for (uint i = tid * 4; MSL_LOOP(i < min(tid * 4 + 4, chunks)); ++i) {
    own += sums[i];
  }
  own_sums[tid] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong before = 0;
  ulong total = 0;
  for (uint i = 0; MSL_LOOP(i < kThreads); ++i) {
    before += i < tid ? own_sums[i] : 0ul;
    total += own_sums[i];
  }
  const ulong target = multiply_high(total, random);
  if (before <= target && target < before + own) {
    uint chunk = tid * 4;
    ulong rest = target - before;
    while (MSL_LOOP(rest >= sums[chunk])) {
      rest -= sums[chunk];
      ++chunk;
    }
    found[0] = chunk;
    place[0] = rest;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
# 90 "Shaders/sample_whole.metal"
MSL_KERNEL void sample_anywhere(MSL_DEVICE const float* logits ,
                            MSL_DEVICE const pagoda_args::SampleRow* rows ,
                            MSL_DEVICE const pagoda_args::SampleEdit* edits ,
                            MSL_DEVICE const uint* masks ,
                            MSL_DEVICE const ulong* found ,
                            MSL_DEVICE const ulong* sums ,
                            MSL_DEVICE int* tokens ,
                            MSL_CONSTANT pagoda_args::Sample& args ,
                            uint row ,
                            uint tid ,
                            uint sg ,
                            uint lane ) {
  MSL_TG_VAR(4, keys, [kSimdgroups], uint)
  MSL_TG_VAR(5, weights, [kThreads], ulong)
  MSL_TG_VAR(6, values, [kThreads], float)
  MSL_TG_VAR(7, chosen, [1], uint)
  MSL_TG_VAR(8, place, [1], ulong)
  MSL_DEVICE const pagoda_args::SampleRow* own_row = rows + row;
  if (own_row[0].is_whole == 0 || own_row[0].min_weight > 0 || own_row[0].top_p != ~0ul) {
    return;
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kMostKept, args.parts, kMostKept, tid, mine);
  const uint key = highest_key(mine, keys, lane, sg);
  if (key == 0 || key == kRefused) {
    if (tid == 0) {
      tokens[row] = -1;
    }
    return;
  }
  find_chunk(sums + long(row) * kEach * args.parts, kEach * args.parts, own_row[0].random,
             (MSL_THREADGROUP ulong*)(weights), (MSL_THREADGROUP uint*)(chosen), (MSL_THREADGROUP ulong*)(place), tid);
  const uint begin = chosen[0] * kThreads;
  values[tid] = as_type<float>(kMinusInfinityBits);
  if (begin + tid < args.vocab) {
    values[tid] = masked(logits[long(row) * args.logits_stride + begin + tid], masks, own_row[0].mask,
                         args.mask_words, begin + tid);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = tid; MSL_LOOP(e < own_row[0].num_edits); e += kThreads) {
    MSL_DEVICE const pagoda_args::SampleEdit* edit = edits + own_row[0].first_edit + e;
    if (edit[0].id >= begin && edit[0].id < begin + kThreads) {
      const uint at = edit[0].id - begin;
      values[at] = edited(values[at], edit[0].bias, edit[0].repetition, edit[0].penalty);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong weight = whole_weight(weight_of((values[tid] - logit_of(key)) / own_row[0].temperature));
  weights[tid] = weight;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong before = 0;
  for (uint i = 0; MSL_LOOP(i < tid); ++i) {
    before += weights[i];
  }
  if (before <= place[0] && place[0] < before + weight) {
    tokens[row] = int(begin + tid);
  }
}
# 151 "Shaders/sample_whole.metal"
MSL_KERNEL void sample_whole(MSL_DEVICE const pagoda_args::SampleRow* rows ,
                         MSL_DEVICE const ulong* found ,
                         MSL_DEVICE const ulong* sums ,
                         MSL_DEVICE int* tokens ,
                         MSL_CONSTANT pagoda_args::Sample& args ,
                         uint row ,
                         uint tid ,
                         uint sg ,
                         uint lane ) {
  MSL_TG_VAR(9, keys, [kSimdgroups], uint)
  MSL_TG_VAR(10, masses, [2*kSimdgroups], ulong)
  MSL_TG_VAR(11, ends, [kEach*kSimdgroups], uint)
  MSL_DEVICE const pagoda_args::SampleRow* own_row = rows + row;
  const ulong min_weight = own_row[0].min_weight;
  if (own_row[0].is_whole == 0 || (min_weight == 0 && own_row[0].top_p == ~0ul)) {
    return;
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kMostKept, args.parts, kMostKept, tid, mine);
  const uint key = highest_key(mine, keys, lane, sg);
  if (key == 0 || key == kRefused) {
    if (tid == 0) {
      tokens[row] = -1;
    }
    return;
  }
  ulong weights[kEach];
  ulong own = 0;

  for (uint i = 0; i < kEach; ++i) {
    const float x = (logit_in(mine[i]) - logit_of(key)) / own_row[0].temperature;
    weights[i] = mine[i] != 0 ? whole_weight(weight_of(x)) : 0ul;
    own += weights[i] >= min_weight ? weights[i] : 0ul;
  }
  if (min_weight == 0) {
    own = 0;
    for (uint i = tid; MSL_LOOP(i < kEach * args.parts); i += kThreads) {
      own += sums[long(row) * kEach * args.parts + i];
    }
  }
  const ulong wanted = multiply_high(mass_of(own, (MSL_THREADGROUP ulong*)(masses), lane, sg), own_row[0].top_p) + 1;


  ulong last = 0;
  for (uint bit = 64; MSL_LOOP(bit > 0); --bit) {
    const ulong tried = last | 1ul << (bit - 1);
    own = 0;

    for (uint i = 0; i < kEach; ++i) {
      own += mine[i] >= tried && weights[i] >= min_weight ? weights[i] : 0ul;
    }
    const ulong mass = mass_of(own, masses + (bit + 1) % 2 * kSimdgroups, lane, sg);
    last = mass >= wanted ? tried : last;
  }
# 208 "Shaders/sample_whole.metal"
  own = 0;

  for (uint i = 0; i < kEach; ++i) {
    const bool is_below = min_weight == 0 ? mine[i] <= last : weights[i] + weights[i] / 256 + 1 < min_weight;
    const uint below = simd_sum(is_below || mine[i] == 0 ? 1u : 0u);
    if (lane == 0) {
      ends[i * kSimdgroups + sg] = below;
    }
    own += mine[i] >= last && weights[i] >= min_weight ? weights[i] : 0ul;
  }
  const ulong all = mass_of(own, masses + kSimdgroups, lane, sg);
  bool is_known = last != 0;
  for (uint part = 0; MSL_LOOP(part < args.parts); ++part) {
    is_known = is_known && ends[2 * part] + ends[2 * part + 1] > 0;
  }
  const ulong target = multiply_high(all, own_row[0].random);
  uint id = 0;
  for (uint bit = 18; MSL_LOOP(bit > 0); --bit) {
    const uint tried = id | 1u << (bit - 1);
    own = 0;

    for (uint i = 0; i < kEach; ++i) {
      own += mine[i] >= last && weights[i] >= min_weight && id_in(mine[i]) < tried ? weights[i] : 0ul;
    }
    const ulong mass = mass_of(own, masses + bit % 2 * kSimdgroups, lane, sg);
    id = mass <= target ? tried : id;
  }
  if (tid == 0) {
    tokens[row] = is_known ? int(id) : -1;
  }
}
# 1 "sample_whole.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"edits", 2, BindingKind::buffer, sizeof(pagoda_args::SampleEdit), false}, {"masks", 3, BindingKind::buffer, sizeof(uint), false}, {"found", 4, BindingKind::buffer, sizeof(ulong), false}, {"sums", 5, BindingKind::buffer, sizeof(ulong), true}, {"args", 6, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_sums((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (const pagoda_args::SampleEdit*)in.buffers[2], (const uint*)in.buffers[3], (const ulong*)in.buffers[4], (ulong*)in.buffers[5], *(const pagoda_args::Sample*)in.buffers[6], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"edits", 2, BindingKind::buffer, sizeof(pagoda_args::SampleEdit), false}, {"masks", 3, BindingKind::buffer, sizeof(uint), false}, {"found", 4, BindingKind::buffer, sizeof(ulong), false}, {"sums", 5, BindingKind::buffer, sizeof(ulong), false}, {"tokens", 6, BindingKind::buffer, sizeof(int), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_anywhere((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (const pagoda_args::SampleEdit*)in.buffers[2], (const uint*)in.buffers[3], (const ulong*)in.buffers[4], (const ulong*)in.buffers[5], (int*)in.buffers[6], *(const pagoda_args::Sample*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"rows", 0, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"found", 1, BindingKind::buffer, sizeof(ulong), false}, {"sums", 2, BindingKind::buffer, sizeof(ulong), false}, {"tokens", 3, BindingKind::buffer, sizeof(int), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_whole((const pagoda_args::SampleRow*)in.buffers[0], (const ulong*)in.buffers[1], (const ulong*)in.buffers[2], (int*)in.buffers[3], *(const pagoda_args::Sample*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"sample_sums", "sample_whole", msl_bindings_0, {}, 256, msl_entry_0},
  {"sample_anywhere", "sample_whole", msl_bindings_1, {}, 256, msl_entry_1},
  {"sample_whole", "sample_whole", msl_bindings_2, {}, 256, msl_entry_2},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sample_whole_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated

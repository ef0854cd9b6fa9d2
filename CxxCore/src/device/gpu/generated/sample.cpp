// sample.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 4 "Shaders/sample.metal"
#include "device/gpu/generated/args_sample.h"
#include "device/gpu/generated/candidates.h"

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
# 48 "Shaders/sample.metal"
MSL_KERNEL void sample_parts(MSL_DEVICE const float* logits ,
                         MSL_DEVICE const pagoda_args::SampleRow* rows ,
                         MSL_DEVICE ulong* found ,
                         MSL_CONSTANT pagoda_args::Sample& args ,
                         uint2 group ,
                         uint tid ,
                         uint sg ,
                         uint lane ) {
  MSL_TG_VAR(1, counts, [3*kSimdgroups], uint)
  const uint wanted = min(rows[group.y].top_k, kMostKept);
  MSL_DEVICE const float* from = logits + long(group.y) * args.logits_stride;
  ulong mine[kEach];

  for (uint i = 0; i < kEach; ++i) {
    const uint id = (group.x * kEach + i) * kThreads + tid;
    mine[i] = 0;
    if (id < args.vocab) {
      mine[i] = candidate_of(from[id], id);
    }
  }
  MSL_DEVICE ulong* kept = found + (long(group.y) * args.parts + group.x) * kMostKept;
  keep_highest(mine, wanted, kept, counts, tid, lane, sg);
}
# 74 "Shaders/sample.metal"
MSL_KERNEL void sample(MSL_DEVICE const ulong* found ,
                   MSL_DEVICE const pagoda_args::SampleRow* rows ,
                   MSL_DEVICE int* tokens ,
                   MSL_CONSTANT pagoda_args::Sample& args ,
                   uint row ,
                   uint tid ,
                   uint sg ,
                   uint lane ) {
  MSL_TG_VAR(2, counts, [3*kSimdgroups], uint)
  MSL_TG_VAR(3, kept, [kMostKept], ulong)
  MSL_TG_VAR(4, weights, [kMostKept], ulong)
  const uint wanted = min(rows[row].top_k, kMostKept);
  ulong mine[kEach];

  for (uint i = 0; i < kEach; ++i) {
    const uint at = i * kThreads + tid;
    mine[i] = 0;
    if (at < args.parts * wanted) {
      mine[i] = found[(long(row) * args.parts + at / wanted) * kMostKept + at % wanted];
    }
  }
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
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"found", 2, BindingKind::buffer, sizeof(ulong), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_parts((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (ulong*)in.buffers[2], *(const pagoda_args::Sample*)in.buffers[3], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
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

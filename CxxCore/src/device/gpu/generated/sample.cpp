// sample.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/sample.metal"
# 1 "Shaders/sample.metal"



# 1 "Shaders/args/sample.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/sample.h"

namespace pagoda_args {


struct SampleRow {
  ulong top_p;
  ulong min_weight;
  ulong random;
  float temperature;
  uint top_k;
};
static_assert(sizeof(SampleRow) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;
  uint vocab;
  uint parts;
};
static_assert(sizeof(Sample) == 16, "host and kernel agree");

}
# 5 "Shaders/sample.metal"
# 1 "Shaders/candidates.h"



# 1 "Shaders/common.h"




# 6 "Shaders/common.h"
# 7 "Shaders/common.h"
# 8 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {

  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; MSL_LOOP(i < num_simdgroups); ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (MSL_LOOP(hi - lo > 1)) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}



METAL_FUNC void rotate(MSL_THREADGROUP float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; MSL_LOOP(stride < block); stride *= 2) {
    for (uint i = tid; MSL_LOOP(i < block / 2); i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}


template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&a)[R],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&b)[C]) {

  for (uint j = 0; j < C; ++j) {








    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }

  }
}
# 5 "Shaders/candidates.h"
# 1 "Shaders/keys.h"




METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

MSL_CONSTANT constexpr uint kMinusInfinityKey = 0x007fffffu;
MSL_CONSTANT constexpr uint kInfinityKey = 0xff800000u;
# 6 "Shaders/candidates.h"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kSimdgroups = kThreads / 32;
MSL_CONSTANT constexpr uint kEach = 16;
MSL_CONSTANT constexpr uint kMostKept = 64;
MSL_CONSTANT constexpr uint kRefused = 0xffffffffu;



METAL_FUNC ulong candidate_of(float logit, uint id) {
  uint key = key_of(logit);
  key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
  return key == kMinusInfinityKey ? 0ul : ulong(key) << 32 | ulong(0xffffffffu - id);
}

METAL_FUNC uint key_in(ulong candidate) { return uint(candidate >> 32); }
METAL_FUNC uint id_in(ulong candidate) { return 0xffffffffu - uint(candidate); }



METAL_FUNC ulong bound_of(MSL_THREAD const ulong (&mine)[kEach], uint wanted, MSL_THREADGROUP uint* counts, uint lane,
                          uint sg) {
  ulong bound = 0;
  for (uint bit = 64; MSL_LOOP(bit > 0); --bit) {
    const ulong tried = bound | 1ul << (bit - 1);
    uint count = 0;

    for (uint i = 0; i < kEach; ++i) {
      count += mine[i] >= tried ? 1u : 0u;
    }
    count = simd_sum(count);
    MSL_THREADGROUP uint* round = counts + bit % 2 * kSimdgroups;
    if (lane == 0) {
      round[sg] = count;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint all = 0;
    for (uint i = 0; MSL_LOOP(i < kSimdgroups); ++i) {
      all += round[i];
    }
    bound = all >= wanted ? tried : bound;
    if (all == wanted) {
      break;
    }
  }
  return bound;
}



template <typename To>
METAL_FUNC void keep_highest(MSL_THREAD const ulong (&mine)[kEach], uint wanted, To kept, MSL_THREADGROUP uint* counts,
                             uint tid, uint lane, uint sg) {
  const ulong bound = bound_of(mine, wanted, counts, lane, sg);
  uint count = 0;

  for (uint i = 0; i < kEach; ++i) {
    count += mine[i] != 0 && mine[i] >= bound ? 1u : 0u;
  }
  uint place = simd_prefix_exclusive_sum(count);
  MSL_THREADGROUP uint* totals = counts + 2 * kSimdgroups;
  if (lane == 31) {
    totals[sg] = place + count;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint all = 0;
  for (uint i = 0; MSL_LOOP(i < kSimdgroups); ++i) {
    place += i < sg ? totals[i] : 0u;
    all += totals[i];
  }

  for (uint i = 0; i < kEach; ++i) {
    if (mine[i] != 0 && mine[i] >= bound) {
      kept[place] = mine[i];
      ++place;
    }
  }
  if (tid >= all && tid < wanted) {
    kept[tid] = 0;
  }
}
# 6 "Shaders/sample.metal"

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
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  sample_parts((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (ulong*)in.buffers[2], *(const pagoda_args::Sample*)in.buffers[3], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"found", 2, BindingKind::buffer, sizeof(ulong), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::Sample), false}};
constexpr uint32_t msl_limit_0 = 256;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  sample((const ulong*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (int*)in.buffers[2], *(const pagoda_args::Sample*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"found", 0, BindingKind::buffer, sizeof(ulong), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"tokens", 2, BindingKind::buffer, sizeof(int), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::Sample), false}};
constexpr uint32_t msl_limit_1 = 256;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sample_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"sample_parts", "sample", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"sample", "sample", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated

// The text of sample.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource sample_source() noexcept {
  return {"sample",
R"msl(#pragma METAL fp contract(off)
// sample: a token for each row of logits, the one that sampler/ draws: top-k, then min-p, then top-p of the tempered
// distribution, and a draw by inverse CDF in id order from the row's random bits, which a counter-based generator gave.
// Weights are whole numbers, so that sums are exact in any order; sampler/logit_blocks.h has the same arithmetic.
// Arguments of sample, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

// How one row's token is drawn; in device memory, one for each row.
struct SampleRow {
  ulong top_p;       // in 2^-64
  ulong min_weight;  // in 2^-40 of the most likely token's
  ulong random;
  float temperature;  // above 0
  uint top_k;         // up to 64; 0: no token is wanted for this row
};
static_assert(sizeof(SampleRow) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;  // elements from one row to the next
  uint vocab;
  uint parts;  // of a row, of 4096 logits each
};
static_assert(sizeof(Sample) == 16, "host and kernel agree");

}  // namespace pagoda_args
// Candidates of sample: a logit and its id in one number, and the highest of those that a threadgroup holds.

// Helpers that several kernels share: sums in one order, the nonlinear functions, tiles, sequences.
// Text of the portable subset: Metal compiles it as it is, mslc translates it for CPU and CUDA. No fast math.

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Finite substitute for minus infinity.
constant constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));  // never overflows
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }

// Elements first, first + stride, ..., all in flight at once; 0 from `end` on.
template <uint N>
METAL_FUNC void load_ahead(device const float* from, uint first, uint stride, uint end, thread float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}

// The sum of v over all threads of the threadgroup, in one order: lanes by butterfly, then simdgroups by index.
// `partial` has an element for each simdgroup; it may be used again after the caller's next barrier.
METAL_FUNC float threadgroup_sum(float v, threadgroup float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}

// The sequence whose rows hold `row`.
METAL_FUNC uint sequence_of_row(device const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// Multiplies tile[0 .. block) with the Hadamard matrix, in place: additions in the order of strides 1, 2, 4, ...
// All threads of the threadgroup call it; the tile is complete and visible to all when it returns.
METAL_FUNC void rotate(threadgroup float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

// The number that eight or four bits of a quantised row stand for, before the row's scale.
METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}

// acc[i][j] += a[i] * b[j] over 8x8 tiles.
template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(thread simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         thread simdgroup_matrix<T, 8, 8> (&a)[R],
                                         thread simdgroup_matrix<T, 8, 8> (&b)[C]) {
#pragma unroll
  for (uint j = 0; j < C; ++j) {
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's smallest tile is 16x8: two of ours side by side.
#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }
#else
#pragma unroll
    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }
#endif
  }
}
// Floats as unsigned numbers in the same order; kernels pick by these, for which infinities and NaNs are numbers too.

// Both zeros have one key: they are equal, and the lower id counts.
METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

constant constexpr uint kMinusInfinityKey = 0x007fffffu;
constant constexpr uint kInfinityKey = 0xff800000u;  // NaNs lie above it and below the other

constant constexpr uint kThreads = 256;
constant constexpr uint kSimdgroups = kThreads / 32;
constant constexpr uint kEach = 16;      // candidates of a thread
constant constexpr uint kMostKept = 64;  // the greatest top_k
constant constexpr uint kRefused = 0xffffffffu;

// In the order in which tokens are likely: equal logits by id, the lower first, so that no two are equal. 0: never
// drawn. What the sampler refuses is above all others.
METAL_FUNC ulong candidate_of(float logit, uint id) {
  uint key = key_of(logit);
  key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
  return key == kMinusInfinityKey ? 0ul : ulong(key) << 32 | ulong(0xffffffffu - id);
}

METAL_FUNC uint key_in(ulong candidate) { return uint(candidate >> 32); }
METAL_FUNC uint id_in(ulong candidate) { return 0xffffffffu - uint(candidate); }

// A number that the `wanted` highest candidates of all threads reach and no other does; 0 where there are fewer.
// counts: 2 kSimdgroups
METAL_FUNC ulong bound_of(thread const ulong (&mine)[kEach], uint wanted, threadgroup uint* counts, uint lane,
                          uint sg) {
  ulong bound = 0;
  for (uint bit = 64; bit > 0; --bit) {
    const ulong tried = bound | 1ul << (bit - 1);
    uint count = 0;
#pragma unroll
    for (uint i = 0; i < kEach; ++i) {
      count += mine[i] >= tried ? 1u : 0u;
    }
    count = simd_sum(count);
    threadgroup uint* round = counts + bit % 2 * kSimdgroups;  // the other half may still be read
    if (lane == 0) {
      round[sg] = count;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint all = 0;
    for (uint i = 0; i < kSimdgroups; ++i) {
      all += round[i];
    }
    bound = all >= wanted ? tried : bound;
    if (all == wanted) {
      break;
    }
  }
  return bound;
}

// Moves the `wanted` highest candidates of all threads to `kept`, in any order, and zeros where there are fewer.
// counts: 3 kSimdgroups
template <typename To>
METAL_FUNC void keep_highest(thread const ulong (&mine)[kEach], uint wanted, To kept, threadgroup uint* counts,
                             uint tid, uint lane, uint sg) {
  const ulong bound = bound_of(mine, wanted, counts, lane, sg);
  uint count = 0;
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    count += mine[i] != 0 && mine[i] >= bound ? 1u : 0u;
  }
  uint place = simd_prefix_exclusive_sum(count);
  threadgroup uint* totals = counts + 2 * kSimdgroups;
  if (lane == 31) {
    totals[sg] = place + count;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint all = 0;
  for (uint i = 0; i < kSimdgroups; ++i) {
    place += i < sg ? totals[i] : 0u;
    all += totals[i];
  }
#pragma unroll
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

METAL_FUNC float multiply_add(float a, float b, float c) {
  const float product = a * b;  // a statement of its own: rounded
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

// In 2^-40, rounded down.
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

// Grid: [parts, rows]. found: [rows, parts, kMostKept], the first top_k of each.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_parts(device const float* logits [[buffer(0)]],
                         device const pagoda_args::SampleRow* rows [[buffer(1)]],
                         device ulong* found [[buffer(2)]],
                         constant pagoda_args::Sample& args [[buffer(3)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint counts[3 * kSimdgroups];
  const uint wanted = min(rows[group.y].top_k, kMostKept);
  device const float* from = logits + long(group.y) * args.logits_stride;
  ulong mine[kEach];
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint id = (group.x * kEach + i) * kThreads + tid;
    mine[i] = 0;
    if (id < args.vocab) {
      mine[i] = candidate_of(from[id], id);
    }
  }
  device ulong* kept = found + (long(group.y) * args.parts + group.x) * kMostKept;
  keep_highest(mine, wanted, kept, counts, tid, lane, sg);
}

// Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void sample(device const ulong* found [[buffer(0)]],
                   device const pagoda_args::SampleRow* rows [[buffer(1)]],
                   device int* tokens [[buffer(2)]],
                   constant pagoda_args::Sample& args [[buffer(3)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint counts[3 * kSimdgroups];
  threadgroup ulong kept[kMostKept];
  threadgroup ulong weights[kMostKept];
)msl"
R"msl(  const uint wanted = min(rows[row].top_k, kMostKept);
  ulong mine[kEach];
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint at = i * kThreads + tid;
    mine[i] = 0;
    if (at < args.parts * wanted) {
      mine[i] = found[(long(row) * args.parts + at / wanted) * kMostKept + at % wanted];
    }
  }
  keep_highest(mine, wanted, (threadgroup ulong*)(kept), counts, tid, lane, sg);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // From here on a thread has a candidate; those past the last have none.
  const ulong own = tid < wanted ? kept[tid] : 0ul;
  ulong highest = 0;
  for (uint i = 0; i < wanted; ++i) {
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
  for (uint i = 0; i < wanted; ++i) {
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
  ulong before = 0;  // of lower ids
  for (uint i = 0; i < wanted; ++i) {
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
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
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
#pragma unroll
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
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
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
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
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
#pragma unroll
  for (uint j = 0; j < C; ++j) {


#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
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
  for (uint bit = 64; bit > 0; --bit) {
    const ulong tried = bound | 1ul << (bit - 1);
    uint count = 0;
#pragma unroll
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
    for (uint i = 0; i < kSimdgroups; ++i) {
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
#pragma unroll
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
  for (uint i = 0; i < kSimdgroups; ++i) {
    place += i < sg ? totals[i] : 0u;
    all += totals[i];
  }
#pragma unroll
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
#pragma unroll
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
#pragma unroll
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
  for (uint i = 0; i < wanted; ++i) {
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
  for (uint i = 0; i < wanted; ++i) {
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
  for (uint i = 0; i < wanted; ++i) {
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
#if !defined(MSL_ONLY) || defined(MSL_ONLY_sample_parts)
extern "C" __global__ void __launch_bounds__(256) sample_parts(const float* logits, const pagoda_args::SampleRow* rows, ulong* found, const pagoda_args::Sample args) {
  sample_parts(logits, rows, found, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_sample)
extern "C" __global__ void __launch_bounds__(256) sample(const ulong* found, const pagoda_args::SampleRow* rows, int* tokens, const pagoda_args::Sample args) {
  sample(found, rows, tokens, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated

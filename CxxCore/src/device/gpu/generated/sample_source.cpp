// The text of sample.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource sample_source() noexcept {
  return {"sample",
R"msl(// sample: a token for each row of logits, nearly as sampler/ draws it: top-k, then min-p, then top-p of the tempered
// distribution, and a draw by inverse CDF in id order, from Philox 4x32-10. Sums are floats in one order; sampler/ has
// doubles, so a draw on the edge between two tokens may differ from it: the engine draws with sampler/, whatever device.
// Helpers that several kernels share: sums in one order, the nonlinear functions, tiles, sequences.
// Text of the portable subset: Metal compiles it as it is, mslc translates it for CPU and CUDA. No fast math.

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Finite stand-in for minus infinity.
constant constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));  // never overflows
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }

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
// Arguments of sample, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

// How one row's token is drawn; in device memory, one for each row.
struct SampleRow {
  float temperature;  // above 0
  float top_p;        // 1: all
  float min_p;        // 0: all
  uint top_k;         // 0: all
  uint seed_low, seed_high;
  uint index_low, index_high;  // of the token, 0 = first of the output
};
static_assert(sizeof(SampleRow) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;  // elements from one row to the next
  uint vocab;
  uint reserved;
};
static_assert(sizeof(Sample) == 16, "host and kernel agree");

}  // namespace pagoda_args

constant constexpr uint kThreads = 256;

METAL_FUNC uint multiply_high(uint a, uint b) {
  return uint((ulong(a) * ulong(b)) >> 32);
}

// The first 24 bits of Philox 4x32-10, in [0, 1).
METAL_FUNC float uniform_at(uint seed_low, uint seed_high, uint index_low, uint index_high) {
  uint c[4] = {index_low, index_high, 0, 0};
  uint key[2] = {seed_low, seed_high};
  for (uint round = 0; round < 10; ++round) {
    const uint high0 = multiply_high(0xD2511F53u, c[0]);
    const uint low0 = 0xD2511F53u * c[0];
    const uint high1 = multiply_high(0xCD9E8D57u, c[2]);
    const uint low1 = 0xCD9E8D57u * c[2];
    c[0] = high1 ^ c[1] ^ key[0];
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ key[1];
    c[3] = low0;
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return float(c[0] >> 8) * 5.9604644775390625e-8f;
}

// Sums of all threads before this one, and of all, in the order of threads. `parts` may be used again at once.
METAL_FUNC float sum_before(float x, threadgroup float* parts, uint tid, thread float& total) {
  parts[tid] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float before = 0.0f;
  float all = 0.0f;
  for (uint i = 0; i < kThreads; ++i) {
    before = i == tid ? all : before;
    all += parts[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = all;
  return before;
}

// What may be drawn: keys above `least`, and the first `ties` of those equal to it.
struct Kept {
  uint least;
  float ties;
  float min_weight;
};

// `seen` counts the keys before this one that equal `least`, and is moved on.
METAL_FUNC bool is_kept(Kept kept, uint key, float weight, thread float& seen) {
  const bool is_tie = key == kept.least;
  const bool is_in = key > kept.least || (is_tie && seen < kept.ties);
  seen += is_tie ? 1.0f : 0.0f;
  return is_in && weight >= kept.min_weight && weight > 0.0f;
}

// 1 for the most likely token. An infinite logit, which kernels do not count on, gives the same 0 as kNegBig.
METAL_FUNC float weight_of(float logit, float highest, float temperature) {
  return precise::exp((max(kNegBig, logit) - highest) / temperature);
}

METAL_FUNC float logit_of(uint key) {
  return as_type<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
}

// Grid: [rows]. rows: one SampleRow each.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample(device const float* logits [[buffer(0)]],
                   device const pagoda_args::SampleRow* rows [[buffer(1)]],
                   device int* tokens [[buffer(2)]],
                   constant pagoda_args::Sample& args [[buffer(3)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float parts[kThreads];
  threadgroup uint ids[kThreads];
  threadgroup uint last_ids[kThreads];
  device const float* from = logits + long(row) * args.logits_stride;
  const uint each = (args.vocab + kThreads - 1) / kThreads;
  const uint begin = min(args.vocab, tid * each);
  const uint end = min(args.vocab, begin + each);
  const float temperature = rows[row].temperature;

  float highest = kNegBig;
  for (uint i = begin; i < end; ++i) {
    highest = max(highest, from[i]);
  }
  parts[tid] = highest;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < kThreads; ++i) {
    highest = max(highest, parts[i]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // The keys of the most likely top_k, by halves: the greatest key that top_k logits or more reach.
  Kept kept = {key_of(kNegBig), float(args.vocab), rows[row].min_p};
  float total = 0.0f;
  if (rows[row].top_k > 0 && rows[row].top_k < args.vocab) {
    const float wanted = float(rows[row].top_k);
    uint least = 0;
    for (uint bit = 0x80000000u; bit > 0; bit >>= 1) {
      float count = 0.0f;
      for (uint i = begin; i < end; ++i) {
        count += key_of(from[i]) >= (least | bit) ? 1.0f : 0.0f;
      }
      sum_before(count, parts, tid, total);
      least = total >= wanted ? least | bit : least;
    }
    float above = 0.0f;
    for (uint i = begin; i < end; ++i) {
      above += key_of(from[i]) > least ? 1.0f : 0.0f;
    }
    sum_before(above, parts, tid, total);
    kept.least = least;
    kept.ties = wanted - total;
  }

  // First the sum of all that top-k and min-p leave, then of what top-p leaves of it; then the draw.
  const bool has_top_p = rows[row].top_p < 1.0f;
  float all = 0.0f;
  float before = 0.0f;
  float ties_before = 0.0f;
  for (uint pass = 0; pass < (has_top_p ? 2u : 1u); ++pass) {
    float equal = 0.0f;
    for (uint i = begin; i < end; ++i) {
      equal += key_of(from[i]) == kept.least ? 1.0f : 0.0f;
    }
    ties_before = sum_before(equal, parts, tid, total);
    float seen = ties_before;
    float sum = 0.0f;
    for (uint i = begin; i < end; ++i) {
      const float weight = weight_of(from[i], highest, temperature);
      sum += is_kept(kept, key_of(from[i]), weight, seen) ? weight : 0.0f;
    }
    before = sum_before(sum, parts, tid, all);
    if (pass == 0 && has_top_p) {
      // The greatest key whose tokens and those above reach their share of the sum, by halves. What was refused last
      // began at the next greater key.
      const float wanted = rows[row].top_p * all;
      uint least = 0;
      float above = 0.0f;
      for (uint bit = 0x80000000u; bit > 0; bit >>= 1) {
        sum = 0.0f;
        seen = ties_before;
        for (uint i = begin; i < end; ++i) {
          const uint key = key_of(from[i]);
          const float weight = weight_of(from[i], highest, temperature);
          sum += is_kept(kept, key, weight, seen) && key >= (least | bit) ? weight : 0.0f;
        }
        sum_before(sum, parts, tid, total);
        least = total >= wanted ? least | bit : least;
        above = total < wanted ? total : above;
      }
      const float ties = max(1.0f, ceil((wanted - above) / weight_of(logit_of(least), highest, temperature)));
      kept.ties = least > kept.least ? ties : min(kept.ties, ties);
      kept.least = least;
    }
  }

  // The first id at which the sum passes the target; the last one with any weight, should rounding leave none.
  const float target =
      uniform_at(rows[row].seed_low, rows[row].seed_high, rows[row].index_low, rows[row].index_high) * all;
  float reached = before;
  float seen = ties_before;
  uint id = args.vocab;
  uint last = 0;
  for (uint i = begin; i < end; ++i) {
    const float weight = weight_of(from[i], highest, temperature);
    if (is_kept(kept, key_of(from[i]), weight, seen)) {
      reached += weight;
      last = i;
      id = reached > target ? min(id, i) : id;
    }
  }
  ids[tid] = id;
  last_ids[tid] = last;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid == 0) {
    for (uint i = 0; i < kThreads; ++i) {
      id = min(id, ids[i]);
)msl"
R"msl(      last = max(last, last_ids[i]);
    }
    tokens[row] = int(id < args.vocab ? id : last);
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/sample.metal"
# 1 "Shaders/sample.metal"



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
# 5 "Shaders/sample.metal"
# 1 "Shaders/keys.h"




METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

MSL_CONSTANT constexpr uint kMinusInfinityKey = 0x007fffffu;
MSL_CONSTANT constexpr uint kInfinityKey = 0xff800000u;
# 6 "Shaders/sample.metal"
# 1 "Shaders/args/sample.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/sample.h"

namespace pagoda_args {


struct SampleRow {
  float temperature;
  float top_p;
  float min_p;
  uint top_k;
  uint seed_low, seed_high;
  uint index_low, index_high;
};
static_assert(sizeof(SampleRow) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;
  uint vocab;
  uint reserved;
};
static_assert(sizeof(Sample) == 16, "host and kernel agree");

}
# 7 "Shaders/sample.metal"

MSL_CONSTANT constexpr uint kThreads = 256;

METAL_FUNC uint multiply_high(uint a, uint b) {
  return uint((ulong(a) * ulong(b)) >> 32);
}


METAL_FUNC float uniform_at(uint seed_low, uint seed_high, uint index_low, uint index_high) {
  uint c[4] = {index_low, index_high, 0, 0};
  uint key[2] = {seed_low, seed_high};
  for (uint round = 0; round < 10; ++round) {
    const uint high0 = multiply_high(0xD2511F53u, c[0]);
    const uint low0 = 0xD2511F53u * c[0];
    const uint high1 = multiply_high(0xCD9E8D57u, c[2]);
    const uint low1 = 0xCD9E8D57u * c[2];
    c[0] = high1 ^ c[1] ^ key[0];
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ key[1];
    c[3] = low0;
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return float(c[0] >> 8) * 5.9604644775390625e-8f;
}


METAL_FUNC float sum_before(float x, MSL_THREADGROUP float* parts, uint tid, MSL_THREAD float& total) {
  parts[tid] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float before = 0.0f;
  float all = 0.0f;
  for (uint i = 0; i < kThreads; ++i) {
    before = i == tid ? all : before;
    all += parts[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = all;
  return before;
}


struct Kept {
  uint least;
  float ties;
  float min_weight;
};


METAL_FUNC bool is_kept(Kept kept, uint key, float weight, MSL_THREAD float& seen) {
  const bool is_tie = key == kept.least;
  const bool is_in = key > kept.least || (is_tie && seen < kept.ties);
  seen += is_tie ? 1.0f : 0.0f;
  return is_in && weight >= kept.min_weight && weight > 0.0f;
}


METAL_FUNC float weight_of(float logit, float highest, float temperature) {
  return precise::exp((max(kNegBig, logit) - highest) / temperature);
}

METAL_FUNC float logit_of(uint key) {
  return as_type<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
}



MSL_KERNEL void sample(MSL_DEVICE const float* logits ,
                   MSL_DEVICE const pagoda_args::SampleRow* rows ,
                   MSL_DEVICE int* tokens ,
                   MSL_CONSTANT pagoda_args::Sample& args ,
                   uint row ,
                   uint tid ) {
  MSL_TG_VAR(1, parts, [kThreads], float)
  MSL_TG_VAR(2, ids, [kThreads], uint)
  MSL_TG_VAR(3, last_ids, [kThreads], uint)
  MSL_DEVICE const float* from = logits + long(row) * args.logits_stride;
  const uint each = (args.vocab + kThreads - 1) / kThreads;
  const uint begin = min(args.vocab, tid * each);
  const uint end = min(args.vocab, begin + each);
  const float temperature = rows[row].temperature;

  float highest = kNegBig;
  for (uint i = begin; i < end; ++i) {
    highest = max(highest, from[i]);
  }
  parts[tid] = highest;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < kThreads; ++i) {
    highest = max(highest, parts[i]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);


  Kept kept = {key_of(kNegBig), float(args.vocab), rows[row].min_p};
  float total = 0.0f;
  if (rows[row].top_k > 0 && rows[row].top_k < args.vocab) {
    const float wanted = float(rows[row].top_k);
    uint least = 0;
    for (uint bit = 0x80000000u; bit > 0; bit >>= 1) {
      float count = 0.0f;
      for (uint i = begin; i < end; ++i) {
        count += key_of(from[i]) >= (least | bit) ? 1.0f : 0.0f;
      }
      sum_before(count, parts, tid, total);
      least = total >= wanted ? least | bit : least;
    }
    float above = 0.0f;
    for (uint i = begin; i < end; ++i) {
      above += key_of(from[i]) > least ? 1.0f : 0.0f;
    }
    sum_before(above, parts, tid, total);
    kept.least = least;
    kept.ties = wanted - total;
  }


  const bool has_top_p = rows[row].top_p < 1.0f;
  float all = 0.0f;
  float before = 0.0f;
  float ties_before = 0.0f;
  for (uint pass = 0; pass < (has_top_p ? 2u : 1u); ++pass) {
    float equal = 0.0f;
    for (uint i = begin; i < end; ++i) {
      equal += key_of(from[i]) == kept.least ? 1.0f : 0.0f;
    }
    ties_before = sum_before(equal, parts, tid, total);
    float seen = ties_before;
    float sum = 0.0f;
    for (uint i = begin; i < end; ++i) {
      const float weight = weight_of(from[i], highest, temperature);
      sum += is_kept(kept, key_of(from[i]), weight, seen) ? weight : 0.0f;
    }
    before = sum_before(sum, parts, tid, all);
    if (pass == 0 && has_top_p) {


      const float wanted = rows[row].top_p * all;
      uint least = 0;
      float above = 0.0f;
      for (uint bit = 0x80000000u; bit > 0; bit >>= 1) {
        sum = 0.0f;
        seen = ties_before;
        for (uint i = begin; i < end; ++i) {
          const uint key = key_of(from[i]);
          const float weight = weight_of(from[i], highest, temperature);
          sum += is_kept(kept, key, weight, seen) && key >= (least | bit) ? weight : 0.0f;
        }
        sum_before(sum, parts, tid, total);
        least = total >= wanted ? least | bit : least;
        above = total < wanted ? total : above;
      }
      const float ties = max(1.0f, ceil((wanted - above) / weight_of(logit_of(least), highest, temperature)));
      kept.ties = least > kept.least ? ties : min(kept.ties, ties);
      kept.least = least;
    }
  }


  const float target =
      uniform_at(rows[row].seed_low, rows[row].seed_high, rows[row].index_low, rows[row].index_high) * all;
  float reached = before;
  float seen = ties_before;
  uint id = args.vocab;
  uint last = 0;
  for (uint i = begin; i < end; ++i) {
    const float weight = weight_of(from[i], highest, temperature);
    if (is_kept(kept, key_of(from[i]), weight, seen)) {
      reached += weight;
      last = i;
      id = reached > target ? min(id, i) : id;
    }
  }
  ids[tid] = id;
  last_ids[tid] = last;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid == 0) {
    for (uint i = 0; i < kThreads; ++i) {
      id = min(id, ids[i]);
      last = max(last, last_ids[i]);
    }
    tokens[row] = int(id < args.vocab ? id : last);
  }
}


# 1 "sample.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_sample)
extern "C" __global__ void __launch_bounds__(256) sample(const float* logits, const pagoda_args::SampleRow* rows, int* tokens, const pagoda_args::Sample args) {
  sample(logits, rows, tokens, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated

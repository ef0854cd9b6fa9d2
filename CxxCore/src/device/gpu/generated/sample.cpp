// sample.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
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
  for (uint round = 0; MSL_LOOP(round < 10); ++round) {
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
  for (uint i = 0; MSL_LOOP(i < kThreads); ++i) {
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
  for (uint i = begin; MSL_LOOP(i < end); ++i) {
    highest = max(highest, from[i]);
  }
  parts[tid] = highest;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; MSL_LOOP(i < kThreads); ++i) {
    highest = max(highest, parts[i]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);


  Kept kept = {key_of(kNegBig), float(args.vocab), rows[row].min_p};
  float total = 0.0f;
  if (rows[row].top_k > 0 && rows[row].top_k < args.vocab) {
    const float wanted = float(rows[row].top_k);
    uint least = 0;
    for (uint bit = 0x80000000u; MSL_LOOP(bit > 0); bit >>= 1) {
      float count = 0.0f;
      for (uint i = begin; MSL_LOOP(i < end); ++i) {
        count += key_of(from[i]) >= (least | bit) ? 1.0f : 0.0f;
      }
      sum_before(count, parts, tid, total);
      least = total >= wanted ? least | bit : least;
    }
    float above = 0.0f;
    for (uint i = begin; MSL_LOOP(i < end); ++i) {
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
  for (uint pass = 0; MSL_LOOP(pass < (has_top_p ? 2u : 1u)); ++pass) {
    float equal = 0.0f;
    for (uint i = begin; MSL_LOOP(i < end); ++i) {
      equal += key_of(from[i]) == kept.least ? 1.0f : 0.0f;
    }
    ties_before = sum_before(equal, parts, tid, total);
    float seen = ties_before;
    float sum = 0.0f;
    for (uint i = begin; MSL_LOOP(i < end); ++i) {
      const float weight = weight_of(from[i], highest, temperature);
      sum += is_kept(kept, key_of(from[i]), weight, seen) ? weight : 0.0f;
    }
    before = sum_before(sum, parts, tid, all);
    if (pass == 0 && has_top_p) {


      const float wanted = rows[row].top_p * all;
      uint least = 0;
      float above = 0.0f;
      for (uint bit = 0x80000000u; MSL_LOOP(bit > 0); bit >>= 1) {
        sum = 0.0f;
        seen = ties_before;
        for (uint i = begin; MSL_LOOP(i < end); ++i) {
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
  for (uint i = begin; MSL_LOOP(i < end); ++i) {
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
    for (uint i = 0; MSL_LOOP(i < kThreads); ++i) {
      id = min(id, ids[i]);
      last = max(last, last_ids[i]);
    }
    tokens[row] = int(id < args.vocab ? id : last);
  }
}


# 1 "sample.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  sample((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (int*)in.buffers[2], *(const pagoda_args::Sample*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"tokens", 2, BindingKind::buffer, sizeof(int), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::Sample), false}};
constexpr uint32_t msl_limit_0 = 256;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sample_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"sample", "sample", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated

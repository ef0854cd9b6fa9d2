// route_experts.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/route_experts.metal"
# 1 "Shaders/route_experts.metal"

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
# 3 "Shaders/route_experts.metal"
# 1 "Shaders/keys.h"




METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

MSL_CONSTANT constexpr uint kMinusInfinityKey = 0x007fffffu;
MSL_CONSTANT constexpr uint kInfinityKey = 0xff800000u;
# 4 "Shaders/route_experts.metal"
# 1 "Shaders/args/experts.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/experts.h"

namespace pagoda_args {

struct RouteExperts {
  long logits_stride, ids_stride, weights_stride;
  uint num_experts;
  uint chosen;
  uint normalise;
  uint is_sigmoid, has_bias;
  uint num_groups, groups_per_token;
  float scale;
};
static_assert(sizeof(RouteExperts) == 56, "host and kernel agree");

struct ExpertTiles {
  long ids_stride;
  uint tokens;
  uint chosen;
  uint num_experts;
  uint max_tiles;
};
static_assert(sizeof(ExpertTiles) == 24, "host and kernel agree");

struct ExpertMatmul {
  long x_stride, out_stride;
  uint x_share;
  uint cols;
  uint padded_cols;
  uint out_cols;
  uint expert_rows;
  uint silu_mul;
};
static_assert(sizeof(ExpertMatmul) == 40, "host and kernel agree");

struct CombineExperts {
  long x_stride, weights_stride, shared_stride, gate_stride, out_stride;
  uint cols;
  uint chosen;
  uint has_shared;
};
static_assert(sizeof(CombineExperts) == 56, "host and kernel agree");

}
# 5 "Shaders/route_experts.metal"

MSL_CONSTANT constexpr uint kMaxChosen = 64;


METAL_FUNC float choice_of(MSL_DEVICE const float* logits, MSL_DEVICE const float* bias, uint e,
                           MSL_CONSTANT pagoda_args::RouteExperts& args) {
  if (args.is_sigmoid == 0) {
    return logits[e];
  }
  return sigmoid(logits[e]) + (args.has_bias != 0 ? bias[e] : 0.0f);
}



METAL_FUNC uint best_groups(MSL_DEVICE const float* logits, MSL_DEVICE const float* bias, uint lane,
                            MSL_CONSTANT pagoda_args::RouteExperts& args) {
  const uint size = args.num_experts / args.num_groups;
  float first = kNegBig;
  float second = kNegBig;
  const uint group = lane < args.num_groups ? lane : 0;
  for (uint e = group * size; MSL_LOOP(e < (group + 1) * size); ++e) {
    const float value = choice_of(logits, bias, e, args);
    second = max(second, min(first, value));
    first = max(first, value);
  }
  const uint key = key_of(args.is_sigmoid != 0 ? first + second : first);
  bool is_left = lane < args.num_groups;
  uint kept = 0;
  for (uint i = 0; MSL_LOOP(i < args.groups_per_token); ++i) {
    const uint best = simd_max(is_left ? key : 0u);
    const uint winner = simd_min(is_left && key == best ? lane : 32u);
    kept |= 1u << winner;
    is_left = is_left && lane != winner;
  }
  return kept;
}




MSL_KERNEL void route_experts(MSL_DEVICE const float* logits ,
                          MSL_DEVICE const float* bias ,
                          MSL_DEVICE int* ids ,
                          MSL_DEVICE float* weights ,
                          MSL_CONSTANT pagoda_args::RouteExperts& args ,
                          uint token ,
                          uint lane ) {
  MSL_TG_VAR(1, chosen, [kMaxChosen], float)
  MSL_DEVICE const float* from = logits + long(token) * args.logits_stride;
  const uint group_size = args.num_experts / args.num_groups;
  uint kept = 1;

  if (args.num_groups > 1) {
    kept = best_groups(from, bias, lane, args);
  }
  uint last_key = 0xffffffffu;
  int last = -1;
  for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
    uint best = 0;
    int found = int(args.num_experts);
    for (int e = int(lane); MSL_LOOP(e < int(args.num_experts)); e += 32) {
      const uint key = key_of(choice_of(from, bias, uint(e), args));
      const bool is_candidate = ((kept >> (uint(e) / group_size)) & 1u) != 0;
      const bool is_left = is_candidate && (key < last_key || (key == last_key && e > last));
      const bool is_better = is_left && (key > best || found == int(args.num_experts));
      best = is_better ? key : best;
      found = is_better ? e : found;
    }
    last_key = simd_max(best);
    last = simd_min(best == last_key ? found : int(args.num_experts));
    if (lane == 0) {
      ids[long(token) * args.ids_stride + j] = last;
      chosen[j] = from[last];
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (args.is_sigmoid != 0) {
    float sum = 0.0f;
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      sum += sigmoid(chosen[j]);
    }
    for (uint j = lane; MSL_LOOP(j < args.chosen); j += 32) {
      const float share = sigmoid(chosen[j]);
      weights[long(token) * args.weights_stride + j] = (args.normalise != 0 ? share / sum : share) * args.scale;
    }
    return;
  }
  const float largest = chosen[0];
  float sum = 0.0f;
  if (args.normalise != 0) {
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      sum += precise::exp(chosen[j] - largest);
    }
  } else {
    for (uint e = lane; MSL_LOOP(e < args.num_experts); e += 32) {
      sum += precise::exp(from[e] - largest);
    }
    sum = simd_sum(sum);
  }
  for (uint j = lane; MSL_LOOP(j < args.chosen); j += 32) {
    weights[long(token) * args.weights_stride + j] = precise::exp(chosen[j] - largest) / sum * args.scale;
  }
}


# 1 "route_experts.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  route_experts((const float*)in.buffers[0], (const float*)in.buffers[1], (int*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::RouteExperts*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"bias", 1, BindingKind::buffer, sizeof(float), false}, {"ids", 2, BindingKind::buffer, sizeof(int), true}, {"weights", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::RouteExperts), false}};
constexpr uint32_t msl_limit_0 = 32;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> route_experts_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"route_experts", "route_experts", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated

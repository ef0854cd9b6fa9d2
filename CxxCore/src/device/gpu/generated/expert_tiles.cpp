// expert_tiles.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/expert_tiles.metal"
# 1 "Shaders/expert_tiles.metal"

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
# 3 "Shaders/expert_tiles.metal"
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
# 4 "Shaders/expert_tiles.metal"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kMaxExperts = 4096;
MSL_CONSTANT constexpr uint kRows = 8;


METAL_FUNC uint expert_of(MSL_DEVICE const int* ids, MSL_CONSTANT pagoda_args::ExpertTiles& args, uint token, uint j) {
  return min(uint(ids[long(token) * args.ids_stride + j]), args.num_experts - 1);
}




MSL_KERNEL void expert_tiles(MSL_DEVICE const int* ids ,
                         MSL_DEVICE uint* order ,
                         MSL_DEVICE uint* tiles ,
                         MSL_CONSTANT pagoda_args::ExpertTiles& args ,
                         uint tid ) {
  MSL_TG_VAR(1, counts, [kMaxExperts], uint)
  MSL_TG_VAR(2, thread_rows, [kThreads], uint)
  MSL_TG_VAR(3, thread_tiles, [kThreads], uint)
  const uint each = (args.num_experts + kThreads - 1) / kThreads;
  const uint begin = tid * each;
  for (uint e = begin; MSL_LOOP(e < begin + each); ++e) {
    counts[e] = 0;
  }
  for (uint token = 0; MSL_LOOP(token < args.tokens); ++token) {
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        counts[e] += 1;
      }
    }
  }
  uint num_rows = 0;
  uint num_tiles = 0;
  for (uint e = begin; MSL_LOOP(e < begin + each); ++e) {
    num_rows += counts[e];
    num_tiles += (counts[e] + kRows - 1) / kRows;
  }
  thread_rows[tid] = num_rows;
  thread_tiles[tid] = num_tiles;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint place = 0;
  uint tile = 0;
  uint all_tiles = 0;
  for (uint i = 0; MSL_LOOP(i < kThreads); ++i) {
    place += i < tid ? thread_rows[i] : 0;
    tile += i < tid ? thread_tiles[i] : 0;
    all_tiles += thread_tiles[i];
  }
  for (uint e = begin; MSL_LOOP(e < begin + each); ++e) {
    const uint count = counts[e];
    counts[e] = place;
    for (uint i = 0; MSL_LOOP(i < count); i += kRows) {
      tiles[tile * 4] = e;
      tiles[tile * 4 + 1] = place + i;
      tiles[tile * 4 + 2] = min(kRows, count - i);
      ++tile;
    }
    place += count;
  }
  for (uint token = 0; MSL_LOOP(token < args.tokens); ++token) {
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        order[counts[e]] = token * args.chosen + j;
        counts[e] += 1;
      }
    }
  }
  for (uint i = all_tiles + tid; MSL_LOOP(i < args.max_tiles); i += kThreads) {
    tiles[i * 4 + 2] = 0;
  }
}


# 1 "expert_tiles.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  expert_tiles((const int*)in.buffers[0], (uint*)in.buffers[1], (uint*)in.buffers[2], *(const pagoda_args::ExpertTiles*)in.buffers[3], msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"ids", 0, BindingKind::buffer, sizeof(int), false}, {"order", 1, BindingKind::buffer, sizeof(uint), true}, {"tiles", 2, BindingKind::buffer, sizeof(uint), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::ExpertTiles), false}};
constexpr uint32_t msl_limit_0 = 256;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> expert_tiles_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"expert_tiles", "expert_tiles", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated

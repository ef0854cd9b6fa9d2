// argmax.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/argmax.metal"
# 1 "Shaders/argmax.metal"



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
# 5 "Shaders/argmax.metal"
# 1 "Shaders/keys.h"




METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

MSL_CONSTANT constexpr uint kMinusInfinityKey = 0x007fffffu;
MSL_CONSTANT constexpr uint kInfinityKey = 0xff800000u;
# 6 "Shaders/argmax.metal"
# 1 "Shaders/args/argmax.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/argmax.h"

namespace pagoda_args {

struct Argmax {
  long logits_stride;
  uint vocab;
  uint parts;
  uint part_size;
  uint reserved;
};
static_assert(sizeof(Argmax) == 24, "host and kernel agree");

}
# 7 "Shaders/argmax.metal"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kRefused = 0xffffffffu;


METAL_FUNC void take_highest(MSL_THREADGROUP uint* keys, MSL_THREADGROUP uint* ids, uint tid) {
  for (uint half_size = kThreads / 2; MSL_LOOP(half_size > 0); half_size /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < half_size) {
      const uint other = tid + half_size;
      if (keys[other] > keys[tid] || (keys[other] == keys[tid] && ids[other] < ids[tid])) {
        keys[tid] = keys[other];
        ids[tid] = ids[other];
      }
    }
  }
}



MSL_KERNEL void argmax_parts(MSL_DEVICE const float* logits ,
                         MSL_DEVICE uint* found ,
                         MSL_CONSTANT pagoda_args::Argmax& args ,
                         uint2 group ,
                         uint tid ) {
  MSL_TG_VAR(1, keys, [kThreads], uint)
  MSL_TG_VAR(2, ids, [kThreads], uint)
  MSL_DEVICE const float* from = logits + long(group.y) * args.logits_stride;
  const uint end = min((group.x + 1) * args.part_size, args.vocab);
  uint best = 0;
  uint id = args.vocab;
  for (uint i = group.x * args.part_size + tid; MSL_LOOP(i < end); i += kThreads) {
    uint key = key_of(from[i]);
    key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
    id = key > best ? i : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    MSL_DEVICE uint* to = found + (long(group.y) * args.parts + group.x) * 2;
    to[0] = keys[0];
    to[1] = ids[0];
  }
}



MSL_KERNEL void argmax(MSL_DEVICE const uint* found ,
                   MSL_DEVICE int* tokens ,
                   MSL_CONSTANT pagoda_args::Argmax& args ,
                   uint row ,
                   uint tid ) {
  MSL_TG_VAR(3, keys, [kThreads], uint)
  MSL_TG_VAR(4, ids, [kThreads], uint)
  MSL_DEVICE const uint* from = found + long(row) * args.parts * 2;
  uint best = 0;
  uint id = args.vocab;
  for (uint part = tid; MSL_LOOP(part < args.parts); part += kThreads) {
    const uint key = from[part * 2];
    id = key > best ? from[part * 2 + 1] : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    tokens[row] = keys[0] > kMinusInfinityKey && keys[0] != kRefused ? int(ids[0]) : -1;
  }
}


# 1 "argmax.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  argmax_parts((const float*)in.buffers[0], (uint*)in.buffers[1], *(const pagoda_args::Argmax*)in.buffers[2], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"found", 1, BindingKind::buffer, sizeof(uint), true}, {"args", 2, BindingKind::values, sizeof(pagoda_args::Argmax), false}};
constexpr uint32_t msl_limit_0 = 256;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  argmax((const uint*)in.buffers[0], (int*)in.buffers[1], *(const pagoda_args::Argmax*)in.buffers[2], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"found", 0, BindingKind::buffer, sizeof(uint), false}, {"tokens", 1, BindingKind::buffer, sizeof(int), true}, {"args", 2, BindingKind::values, sizeof(pagoda_args::Argmax), false}};
constexpr uint32_t msl_limit_1 = 256;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> argmax_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"argmax_parts", "argmax", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"argmax", "argmax", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated

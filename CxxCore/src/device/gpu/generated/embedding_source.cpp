// The text of embedding.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource embedding_source() noexcept {
  return {"embedding",
R"msl(#pragma METAL fp contract(off)
// embedding: one row of the table per token, as floats.
#include "common.h"
#include "args/embedding.h"

// Grid: [tokens]. table: [vocab, padded_cols]
template <typename T>
kernel void embedding(device const int* ids [[buffer(0)]],
                      device const T* table [[buffer(1)]],
                      device float* out [[buffer(2)]],
                      constant pagoda_args::Embedding& args [[buffer(3)]],
                      uint token [[threadgroup_position_in_grid]],
                      uint tid [[thread_index_in_threadgroup]],
                      uint num_threads [[threads_per_threadgroup]]) {
  device const T* row = table + ulong(ids[token]) * args.padded_cols;
  device float* to = out + long(token) * args.out_stride;
  for (uint i = tid; i < args.cols; i += num_threads) {
    to[i] = float(row[i]);
  }
}

template [[host_name("embedding_f32")]] kernel decltype(embedding<float>) embedding<float>;
template [[host_name("embedding_f16")]] kernel decltype(embedding<half>) embedding<half>;
template [[host_name("embedding_bf16")]] kernel decltype(embedding<bfloat>) embedding<bfloat>;

// Grid: [tokens]. steps: per 32 columns, a shift (8 bits) or a pair (step, offset) (4 bits).
template <uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void embedding_packed(device const int* ids [[buffer(0)]],
                             device const uint* table [[buffer(1)]],
                             device const uchar* steps [[buffer(2)]],
                             device const float* scales [[buffer(3)]],
                             device float* out [[buffer(4)]],
                             constant pagoda_args::Embedding& args [[buffer(5)]],
                             uint token [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]]) {
  constexpr uint PER_WORD = 32 / BITS;
  const ulong id = ulong(ids[token]);
  const float scale = scales[id];
  for (uint i = tid; i < args.cols; i += 128) {
    const ulong at = id * args.padded_cols + i;
    const uint word = table[at / PER_WORD];
    const uint pair = i % PER_WORD / 2;  // in the order given in matmul.h
    float value;
    if (BITS == 8) {
      value = shifted_byte(word >> (16 * (i % 2) + 8 * pair) & 255u, steps[at / 32]);
    } else {
      value = stepped_nibble(word >> (16 * (i % 2) + 4 * pair) & 15u, steps[at / 32 * 2], steps[at / 32 * 2 + 1]);
    }
    out[long(token) * args.out_stride + i] = value * scale;
  }
}

template [[host_name("embedding_packed_q8")]] kernel decltype(embedding_packed<8>) embedding_packed<8>;
template [[host_name("embedding_packed_q4")]] kernel decltype(embedding_packed<4>) embedding_packed<4>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/embedding.metal"
#include "Shaders/common.h"
#include "Shaders/args/embedding.h"


template <typename T>
MSL_KERNEL void embedding(MSL_DEVICE const int* ids ,
                      MSL_DEVICE const T* table ,
                      MSL_DEVICE float* out ,
                      MSL_CONSTANT pagoda_args::Embedding& args ,
                      uint token ,
                      uint tid ,
                      uint num_threads ) {
  MSL_DEVICE const T* row = table + ulong(ids[token]) * args.padded_cols;
  MSL_DEVICE float* to = out + long(token) * args.out_stride;
  for (uint i = tid; i < args.cols; i += num_threads) {
    to[i] = float(row[i]);
  }
}
# 26 "Shaders/embedding.metal"
template <uint BITS>

MSL_KERNEL void embedding_packed(MSL_DEVICE const int* ids ,
                             MSL_DEVICE const uint* table ,
                             MSL_DEVICE const uchar* steps ,
                             MSL_DEVICE const float* scales ,
                             MSL_DEVICE float* out ,
                             MSL_CONSTANT pagoda_args::Embedding& args ,
                             uint token ,
                             uint tid ) {
  constexpr uint PER_WORD = 32 / BITS;
  const ulong id = ulong(ids[token]);
  const float scale = scales[id];
  for (uint i = tid; i < args.cols; i += 128) {
    const ulong at = id * args.padded_cols + i;
    const uint word = table[at / PER_WORD];
    const uint pair = i % PER_WORD / 2;
    float value;
    if (BITS == 8) {
      value = shifted_byte(word >> (16 * (i % 2) + 8 * pair) & 255u, steps[at / 32]);
    } else {
      value = stepped_nibble(word >> (16 * (i % 2) + 4 * pair) & 15u, steps[at / 32 * 2], steps[at / 32 * 2 + 1]);
    }
    out[long(token) * args.out_stride + i] = value * scale;
  }
}

# 1 "embedding.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_f32)
extern "C" __global__ void __launch_bounds__(1024) embedding_f32(const int* ids, const float* table, float* out, const pagoda_args::Embedding args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  embedding<float>(ids, table, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_f16)
extern "C" __global__ void __launch_bounds__(1024) embedding_f16(const int* ids, const half* table, float* out, const pagoda_args::Embedding args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  embedding<half>(ids, table, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_bf16)
extern "C" __global__ void __launch_bounds__(1024) embedding_bf16(const int* ids, const bfloat* table, float* out, const pagoda_args::Embedding args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  embedding<bfloat>(ids, table, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_packed_q8)
extern "C" __global__ void __launch_bounds__(128) embedding_packed_q8(const int* ids, const uint* table, const uchar* steps, const float* scales, float* out, const pagoda_args::Embedding args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  embedding_packed<8>(ids, table, steps, scales, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_packed_q4)
extern "C" __global__ void __launch_bounds__(128) embedding_packed_q4(const int* ids, const uint* table, const uchar* steps, const float* scales, float* out, const pagoda_args::Embedding args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  embedding_packed<4>(ids, table, steps, scales, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated

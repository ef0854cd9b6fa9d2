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

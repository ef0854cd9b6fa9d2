// embedding: a row of the table per token, as floats.
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

// Quantised rows are kept rotated (host/quantise.h); rotated again and divided by the block they are themselves.
// Grid: [padded_cols / block, tokens]. steps: a pair (step, offset) for each 32 columns, 4 bits only.
template <uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void embedding_packed(device const int* ids [[buffer(0)]],
                             device const uint* table [[buffer(1)]],
                             device const uchar* steps [[buffer(2)]],
                             device const float* scales [[buffer(3)]],
                             device float* out [[buffer(4)]],
                             constant pagoda_args::Embedding& args [[buffer(5)]],
                             uint2 tg [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]]) {
  constexpr uint PER_WORD = 32 / BITS;
  threadgroup float tile[4096];
  const ulong id = ulong(ids[tg.y]);
  const uint first = tg.x * args.block;
  for (uint i = tid; i < args.block; i += 128) {
    const ulong at = id * args.padded_cols + first + i;
    const uint word = table[at / PER_WORD];
    if (BITS == 8) {
      tile[i] = signed_byte(word, uint(at % PER_WORD));
    } else {
      tile[i] = stepped_nibble(word, uint(at % PER_WORD), steps[at / 32 * 2], steps[at / 32 * 2 + 1]);
    }
  }
  rotate(tile, args.block, tid, 128);
  const float scale = scales[id] / float(args.block);
  for (uint i = tid; i < args.block && first + i < args.cols; i += 128) {
    out[long(tg.y) * args.out_stride + first + i] = tile[i] * scale;
  }
}

template [[host_name("embedding_packed_q8")]] kernel decltype(embedding_packed<8>) embedding_packed<8>;
template [[host_name("embedding_packed_q4")]] kernel decltype(embedding_packed<4>) embedding_packed<4>;

// embedding: one row of the table per token, as floats.
#include "args/embedding.h"
#include "stored.h"

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

// Grid: [tokens]. Formats of stored.h; each product is rounded before it is added, as in the reader of the file.
template <uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void embedding_stored(device const int* ids [[buffer(0)]],
                             device const uint* table [[buffer(1)]],
                             device const ushort* steps [[buffer(2)]],
                             device float* out [[buffer(3)]],
                             constant pagoda_args::Embedding& args [[buffer(4)]],
                             uint token [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]]) {
  constexpr uint SPAN = BITS > 200 ? 16 : 32;  // columns of a group in a chunk
  const ulong row = ulong(ids[token]) * args.padded_cols;
  for (uint i = tid; i < args.cols; i += 128) {
    const uint quarter = i % SPAN / (SPAN / 4);
    const ulong at = row + i / kChunk * kChunk + quarter * 16;
    uint code = i % kChunk / SPAN * (SPAN / 4) + i % (SPAN / 4);  // of the lane's 16
    if ((args.scales.kind & kFloatCodes) != 0) {
      code = (code & 12u) + code % 2 * 2 + code % 4 / 2;
    }
    uint word;
    if (BITS == kStored4) {
      word = table[at / 8 + code / 8] >> (16 * (code % 2) + code % 8 / 2 * 4) & 15u;
    } else {
      word = table[at / 4 + code / 4] >> (8 * (code % 4)) & 255u;
    }
    Share<BITS> share;
    float terms[BITS > 200 ? 8 : 4];
    load_share(table, steps, args.scales, at, 0, share);
    share_terms(share, args.scales, terms);
    const uint group = i % kChunk / SPAN;
    const float product = terms[group] * stored_number(word, args.scales);
    out[long(token) * args.out_stride + i] =
        (args.scales.kind & kHasMins) != 0 ? product + terms[kChunk / SPAN + group] : product;
  }
}

template [[host_name("embedding_stored_s4")]] kernel decltype(embedding_stored<kStored4>) embedding_stored<kStored4>;
template [[host_name("embedding_stored_s8")]] kernel decltype(embedding_stored<kStored8>) embedding_stored<kStored8>;
template [[host_name("embedding_stored_s8f")]] kernel decltype(embedding_stored<kFine8>) embedding_stored<kFine8>;

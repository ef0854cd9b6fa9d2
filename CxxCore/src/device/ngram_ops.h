// Arguments of the ops of n-gram embeddings (Qwen4-Exp), whose context is part of the recurrent state.
#pragma once

#include <cstdint>
#include <span>

#include "base/ngram_hash.h"
#include "base/result.h"
#include "device/op_args.h"

namespace pagoda::device {

constexpr int64_t kMaxNgramSize = 16, kMaxNgramHeads = 256;

// A matrix that stays in its files; rows are read when a step needs them.
class RowTable {
 public:
  virtual ~RowTable() = default;
  virtual int64_t rows() const noexcept = 0;
  virtual int64_t cols() const noexcept = 0;
  virtual Status read(int64_t row, std::span<float> to) const = 0;  // from any thread
};

// The concatenated rows of the n-grams that end in each token. The step's last `ring` ids are written to `tokens`, as
// inputs to the tail of causal_conv1d.
struct NgramEmbeddingArgs {
  static constexpr const char* kName = "ngram_embedding";
  Tensor ids;     // i32 [T]
  Tensor tokens;  // i32 [slots, ring]: the id at position p in row p % ring; ring is at least ngram_size - 1
  SequenceArgs sequences;
  const NgramHash* hash = nullptr;
  const RowTable* table = nullptr;  // [hash->num_rows, D]
  Tensor out;                       // f32 [T, heads * D]
};

// out += value + silu(convolution of x over time), whose taps are `dilation` tokens apart. The tail is as in
// CausalConv1dArgs.
struct DilatedConvArgs {
  static constexpr const char* kName = "dilated_conv";
  Tensor x, value;  // f32 [T, C]
  Tensor weight;    // f32 [kernel, C]; kernel - 1 is the current token
  int64_t dilation = 1;
  Tensor tail;  // f32 [slots, ring, C]; ring is at least (kernel - 1) * dilation
  SequenceArgs sequences;
  Tensor out;  // f32 [T, C]
};

}  // namespace pagoda::device

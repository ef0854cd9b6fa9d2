// Arguments of argmax and sample, which pick tokens on devices whose memory is far from the host. On a CPU the sampler
// reads the logits itself.
#pragma once

#include "device/op_args.h"

namespace pagoda::device {

// tokens[r] = the lowest id among the maxima of row r; -1 where the sampler rejects the row: it contains NaN or
// +infinity, or nothing above -infinity. Zeros of either sign are equal.
struct ArgmaxArgs {
  Tensor logits;  // f32 [R, vocab]
  Tensor tokens;  // i32 [R]
};

// Sampling parameters of one row: sampler::Draw in its device memory layout.
struct Draw {
  uint64_t top_p = 0;       // in 2^-64
  uint64_t min_weight = 0;  // in 2^-40 of the most likely token's weight
  uint64_t random = 0;
  float temperature = 1.0f;
  uint32_t top_k = 0;  // 0: no token is requested for this row
};
static_assert(sizeof(Draw) == 32);

// tokens[r] = the token the sampler would draw from row r; -1 where none is requested or the sampler rejects the row.
struct SampleArgs {
  Tensor logits;  // f32 [R, vocab]
  Tensor draws;   // i64 [R, 4]: a Draw each, with top_k up to max_top_k(vocab)
  Tensor tokens;  // i32 [R]
};

// A row is searched in parts in parallel, then their candidates are merged: the most elements of either stage.
constexpr int64_t kSamplePart = 4096;

constexpr int64_t max_top_k(int64_t vocab) noexcept {
  const int64_t parts = (vocab + kSamplePart - 1) / kSamplePart;
  return parts <= kSamplePart / 64 ? 64 : kSamplePart / parts;
}

}  // namespace pagoda::device

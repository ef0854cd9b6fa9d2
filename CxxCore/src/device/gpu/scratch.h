// Scratch: the memory that the GPU encoder's own intermediate results need in the largest step, allocated once.
#pragma once

#include <memory>

#include "device/device.h"
#include "device/gpu/backend.h"

namespace pagoda::device::gpu {

constexpr int64_t kRowsTile = 64;        // rows of activations per threadgroup of matmul_tiles
constexpr int64_t kExpertRows = 8;       // rows per threadgroup of expert_matmul and expert_few
constexpr int64_t kScalarRows = 4;       // most rows of activations of matmul_scalar, and tokens of expert_scalar
constexpr int64_t kScalarWeights = 32;   // rows of weights per threadgroup of both
constexpr int64_t kPartition = 256;      // positions per partition of paged_attention
constexpr int64_t kArgmaxPart = 4096;    // logits per threadgroup of argmax
constexpr int64_t kSampleChunk = 256;    // logits whose weights are summed together; candidates or masses of a part
constexpr int64_t kGdnGateFloats = 640;  // of gdn_prepare, per block and V-head

constexpr int64_t round_up(int64_t n, int64_t to) noexcept { return (n + to - 1) / to * to; }

// Upper bound for the tiles of up to `each` rows of one expert that `rows` rows form: every expert may leave one
// partial tile.
constexpr int64_t max_expert_tiles(int64_t rows, int64_t experts, int64_t each) noexcept {
  return rows / each + (rows < experts ? rows : experts);
}

// Sizes of each part, in bytes.
struct ScratchSizes {
  int64_t rows = 0, scales = 0;         // activations of a matmul in 16 bits, and their scales
  int64_t partials = 0;                 // of paged_attention
  int64_t gdn_rows = 0, gdn_gates = 0;  // of gdn_prepare
  int64_t found = 0;                    // of argmax and sample
  int64_t expert_order = 0, expert_tiles = 0;

  static ScratchSizes matmul(int64_t num_rows, int64_t padded_cols) noexcept;
  static ScratchSizes attention(int64_t sequences, int64_t heads, int64_t dim, int64_t partitions) noexcept;
  static ScratchSizes gdn(int64_t tokens, int64_t sequences, int64_t k_heads, int64_t v_heads, int64_t dk) noexcept;
  static ScratchSizes argmax(int64_t rows, int64_t vocab) noexcept;
  static ScratchSizes sample(int64_t rows, int64_t vocab) noexcept;
  static ScratchSizes experts(int64_t rows, int64_t experts) noexcept;
  static ScratchSizes largest(const StepLimits& limits) noexcept;

  int64_t total() const noexcept {
    return rows + scales + partials + gdn_rows + gdn_gates + found + expert_order + expert_tiles;
  }
  bool fits(const ScratchSizes& reserved) const noexcept;
};

// What the launches of sample leave for each other: where each begins, in bytes.
struct SampleLayout {
  SampleLayout(int64_t rows, int64_t vocab) noexcept;
  int64_t sums, cuts, highest, end;  // candidates or masses come first
};

struct Scratch {
  ScratchSizes sizes;
  std::unique_ptr<Buffer> rows, scales, partials, gdn_rows, gdn_gates, found, expert_order, expert_tiles;

  static Result<Scratch> allocate(Backend& backend, const StepLimits& limits);
};

}  // namespace pagoda::device::gpu

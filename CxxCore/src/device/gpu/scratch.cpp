// Sizes of each op's intermediate results.
#include "device/gpu/scratch.h"

#include <algorithm>

#include "args/sample.h"
#include "base/assign_or_return.h"
#include "device/host/quantise.h"
#include "device/pick_ops.h"

namespace pagoda::device::gpu {

ScratchSizes ScratchSizes::matmul(int64_t num_rows, int64_t padded_cols) noexcept {
  ScratchSizes sizes;
  sizes.rows = num_rows * padded_cols * 2;
  sizes.scales = num_rows * int64_t{sizeof(float)};
  return sizes;
}

ScratchSizes ScratchSizes::attention(int64_t sequences, int64_t heads, int64_t dim, int64_t partitions) noexcept {
  ScratchSizes sizes;
  sizes.partials = sequences * heads * partitions * (dim + 2) * int64_t{sizeof(float)};
  return sizes;
}

ScratchSizes ScratchSizes::gdn(int64_t tokens, int64_t sequences, int64_t k_heads, int64_t v_heads,
                               int64_t dk) noexcept {
  const int64_t blocks = tokens / kGdnBlock + 2 * sequences;
  ScratchSizes sizes;
  sizes.gdn_rows = blocks * k_heads * 2 * kGdnBlock * (dk <= 128 ? 128 : 256) * int64_t{sizeof(float)};
  sizes.gdn_gates = blocks * v_heads * kGdnGateFloats * int64_t{sizeof(float)};
  return sizes;
}

ScratchSizes ScratchSizes::argmax(int64_t rows, int64_t vocab) noexcept {
  ScratchSizes sizes;
  sizes.found = rows * (round_up(vocab, kArgmaxPart) / kArgmaxPart) * 2 * int64_t{sizeof(uint32_t)};
  return sizes;
}

SampleLayout::SampleLayout(int64_t rows, int64_t vocab) noexcept {
  const int64_t parts = rows * (round_up(vocab, kSamplePart) / kSamplePart);
  sums = parts * kSampleChunk * int64_t{sizeof(uint64_t)};
  cuts = sums + parts * (kSamplePart / kSampleChunk) * int64_t{sizeof(uint64_t)};
  highest = cuts + rows * int64_t{sizeof(pagoda_args::SampleCut)};
  end = highest + parts * int64_t{sizeof(uint32_t)};
}

ScratchSizes ScratchSizes::sample(int64_t rows, int64_t vocab) noexcept {
  ScratchSizes sizes;
  sizes.found = SampleLayout(rows, vocab).end;
  return sizes;
}

ScratchSizes ScratchSizes::experts(int64_t rows, int64_t experts) noexcept {
  ScratchSizes sizes;
  if (experts == 0) return sizes;
  sizes.expert_order = rows * int64_t{sizeof(uint32_t)};
  sizes.expert_tiles = max_expert_tiles(rows, experts, kExpertRows) * 4 * int64_t{sizeof(uint32_t)};
  return sizes;
}

ScratchSizes ScratchSizes::largest(const StepLimits& limits) noexcept {
  ScratchSizes sizes = matmul(limits.tokens, round_up(limits.cols, host::kColumnPadding));
  const ScratchSizes by_head = matmul(limits.rows_by_head, round_up(limits.head_cols, host::kColumnPadding));
  sizes.rows = std::max(sizes.rows, by_head.rows);
  sizes.scales = std::max(sizes.scales, by_head.scales);
  sizes.partials =
      attention(limits.sequences, limits.heads, limits.head_dim, (limits.context + kPartition - 1) / kPartition)
          .partials;
  const ScratchSizes recurrent = gdn(limits.tokens, limits.sequences, limits.k_heads, limits.v_heads, limits.k_dim);
  sizes.gdn_rows = recurrent.gdn_rows;
  sizes.gdn_gates = recurrent.gdn_gates;
  sizes.found = sample(limits.logits_rows, limits.vocab).found;  // argmax needs less
  for (const ScratchSizes& products : {experts(limits.tokens, limits.experts),
                                       experts(limits.rows_by_head, limits.rows_by_head > 0 ? limits.heads : 0)}) {
    sizes.expert_order = std::max(sizes.expert_order, products.expert_order);
    sizes.expert_tiles = std::max(sizes.expert_tiles, products.expert_tiles);
  }
  return sizes;
}

bool ScratchSizes::fits(const ScratchSizes& reserved) const noexcept {
  return rows <= reserved.rows && scales <= reserved.scales && partials <= reserved.partials &&
         gdn_rows <= reserved.gdn_rows && gdn_gates <= reserved.gdn_gates && found <= reserved.found &&
         expert_order <= reserved.expert_order && expert_tiles <= reserved.expert_tiles;
}

Result<Scratch> Scratch::allocate(Backend& backend, const StepLimits& limits) {
  Scratch scratch;
  scratch.sizes = ScratchSizes::largest(limits);
  const struct {
    std::unique_ptr<Buffer>& buffer;
    int64_t size_bytes;
    const char* label;
  } parts[] = {{scratch.rows, scratch.sizes.rows, "scratch of matmuls"},
               {scratch.scales, scratch.sizes.scales, "scratch of matmuls"},
               {scratch.partials, scratch.sizes.partials, "scratch of attention"},
               {scratch.gdn_rows, scratch.sizes.gdn_rows, "scratch of gdn"},
               {scratch.gdn_gates, scratch.sizes.gdn_gates, "scratch of gdn"},
               {scratch.found, scratch.sizes.found, "scratch of sample"},
               {scratch.expert_order, scratch.sizes.expert_order, "scratch of experts"},
               {scratch.expert_tiles, scratch.sizes.expert_tiles, "scratch of experts"}};
  for (const auto& part : parts) {
    if (part.size_bytes == 0) continue;
    PAGODA_ASSIGN_OR_RETURN(part.buffer, backend.allocate(static_cast<size_t>(part.size_bytes), part.label));
  }
  return scratch;
}

}  // namespace pagoda::device::gpu

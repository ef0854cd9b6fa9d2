// The cost model of every op.
#include "device/op_cost.h"

#include <algorithm>

#include "device/host/access.h"

namespace pagoda::device {
namespace {

double number(int64_t n) noexcept { return static_cast<double>(n); }

// Elements of `t` in the type of `as`.
double bytes_as(const Tensor& t, const Tensor& as) noexcept {
  return number(t.num_elements()) * number(static_cast<int64_t>(dtype_bytes(as.dtype)));
}

struct Positions {
  double cached = 0;   // positions that any row of the step sees, over all sequences
  double visible = 0;  // (query, key) pairs
};

// `window`: maximum positions that a row attends to; 0: all that precede it. If the lengths are not visible to the
// host, every sequence counts as one row with max_context positions.
Positions positions(const SequenceArgs& sequences, int64_t window) noexcept {
  Positions sum;
  if (sequences.context_lens.buffer->host_pointer() == nullptr) {
    const int64_t context = window > 0 ? std::min(sequences.max_context, window) : sequences.max_context;
    sum.cached = sum.visible = number(sequences.context_lens.shape[0] * context);
    return sum;
  }
  const int32_t* bounds = host_data<int32_t>(sequences.cu_seqlens);
  for (int64_t b = 0; b < sequences.context_lens.shape[0]; ++b) {
    const int64_t context = host_data<int32_t>(sequences.context_lens)[b], rows = bounds[b + 1] - bounds[b];
    sum.cached += number(window > 0 ? std::min(context, window + rows - 1) : context);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t seen = context - rows + r + 1;
      sum.visible += number(window > 0 ? std::min(seen, window) : seen);
    }
  }
  return sum;
}

// Of rows that attend to every position of their sequence, whether the host sees the lengths or not.
Positions all_positions(const PagedAttentionArgs& a) noexcept {
  const SequenceArgs& s = a.sequences;
  if (s.context_lens.buffer->host_pointer() == nullptr)
    return {.cached = number(s.context_lens.shape[0] * s.max_context), .visible = number(a.q.shape[0] * s.max_context)};
  Positions sum;
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b) {
    const double context = number(host_data<int32_t>(s.context_lens)[b]);
    sum.cached += context;
    sum.visible += context * number(bounds[b + 1] - bounds[b]);
  }
  return sum;
}

// One head's row of a cache [num_blocks, block_size, heads, D], including the scale that follows the elements of an i8
// row.
double cache_row_bytes(const Tensor& cache) noexcept {
  const int64_t elements = cache.shape[2] > 1 ? std::min(cache.strides[1], cache.strides[2]) : cache.strides[1];
  return number(elements) * number(static_cast<int64_t>(dtype_bytes(cache.dtype)));
}

// The delta rule of gdn and kda. A state is read once per sequence, and written if its rows end a block.
template <class Args>
OpCost delta_rule(const Args& a) noexcept {
  const double rows = number(a.q.shape[0]), sequences = number(a.sequences.context_lens.shape[0]);
  const double state = number(a.v.shape[1] * a.q.shape[2] * a.v.shape[2]);
  const double inside = number(a.v.shape[1] * a.v.shape[2] * kGdnBlock);
  const double writes = std::min(1.0, rows / sequences / kGdnBlock);  // of a state, on average
  // Two products with the state per row, and its update once per block; within a block, half of its rows on average.
  return {.bytes = tensor_bytes(a.q) + tensor_bytes(a.k) + tensor_bytes(a.v) + tensor_bytes(a.out) +
                   slots_bytes(a.k_rows, a.sequences) + slots_bytes(a.u_rows, a.sequences) +
                   slots_bytes(a.state, a.sequences) * (1 + writes),
          .operations = rows * (6 * state + 2 * inside)};
}

}  // namespace

double tensor_bytes(const Tensor& t) noexcept { return t.is_present() ? bytes_as(t, t) : 0; }

double slots_bytes(const Tensor& pool, const SequenceArgs& sequences) noexcept {
  return number(host::slot_bytes(pool)) * number(sequences.context_lens.shape[0]);
}

namespace {

// An op that reads x and writes out.
template <class Args>
OpCost cost_of(const Args& a) noexcept {
  return {.bytes = tensor_bytes(a.x) + tensor_bytes(a.out)};
}
OpCost cost_of(const EmbeddingArgs& a) noexcept {
  const double row = static_cast<double>(a.table->size_bytes()) / number(a.table->rows());
  return {.bytes = tensor_bytes(a.out) + row * number(a.out.shape[0])};
}
OpCost cost_of(const RmsNormArgs& a) noexcept {
  const double made = a.only_next ? 0 : tensor_bytes(a.out);  // 0: the matmul that reads the rows computes them
  return {.bytes = tensor_bytes(a.x) * (a.residual.is_present() ? 3 : 1) + made};
}
OpCost cost_of(const MatmulArgs& a) noexcept {
  return {.bytes = static_cast<double>(a.weight->size_bytes()) + tensor_bytes(a.x) + tensor_bytes(a.out),
          .operations = 2 * number(a.x.shape[0]) * number(a.weight->rows()) * number(a.weight->cols())};
}
OpCost cost_of(const ReshapeAndCacheArgs& a) noexcept {
  return {.bytes = 2 * (tensor_bytes(a.k) + bytes_as(a.k, a.k_cache))};
}
OpCost cost_of(const PagedAttentionArgs& a) noexcept {
  const Positions at = a.is_causal ? positions(a.sequences, a.window) : all_positions(a);
  return {.bytes = tensor_bytes(a.q) + tensor_bytes(a.out) +
                   2 * at.cached * number(a.k_cache.shape[2]) * cache_row_bytes(a.k_cache),
          .operations = 4 * at.visible * number(a.q.shape[1] * a.q.shape[2])};
}
OpCost cost_of(const SigmoidGateArgs& a) noexcept { return {.bytes = 3 * tensor_bytes(a.x)}; }
OpCost cost_of(const CausalConv1dArgs& a) noexcept {
  return {
      .bytes = tensor_bytes(a.x) + tensor_bytes(a.out) + tensor_bytes(a.weight) + 2 * slots_bytes(a.tail, a.sequences),
      .operations = 2 * number(a.x.num_elements()) * number(a.weight.shape[0])};
}
OpCost cost_of(const GdnArgs& a) noexcept { return delta_rule(a); }
OpCost cost_of(const GatedRmsNormArgs& a) noexcept { return {.bytes = 2 * tensor_bytes(a.x) + tensor_bytes(a.out)}; }
OpCost cost_of(const GatherRowsArgs& a) noexcept { return {.bytes = 2 * tensor_bytes(a.out)}; }
OpCost cost_of(const ZeroSlotsArgs& a) noexcept {
  return {.bytes = number(host::slot_bytes(a.pool)) * number(a.slots.shape[0])};
}
OpCost cost_of(const CopySlotArgs& a) noexcept { return {.bytes = 2 * number(host::slot_bytes(a.pool))}; }
OpCost cost_of(const ArgmaxArgs& a) noexcept { return {.bytes = tensor_bytes(a.logits) + tensor_bytes(a.tokens)}; }
OpCost cost_of(const SampleArgs& a) noexcept {
  const double scores = a.scores.is_present() ? tensor_bytes(a.scores) : 0;
  return {.bytes = tensor_bytes(a.logits) + tensor_bytes(a.draws) + tensor_bytes(a.tokens) + scores};
}
OpCost cost_of(const RouteExpertsArgs& a) noexcept {
  return {.bytes = tensor_bytes(a.logits) + tensor_bytes(a.ids) + tensor_bytes(a.weights)};
}
OpCost cost_of(const ExpertMatmulArgs& a) noexcept {
  return op_cost(a, std::min(a.out.shape[0], a.num_experts));  // an expert per row
}
OpCost cost_of(const CombineExpertsArgs& a) noexcept {
  return {.bytes = tensor_bytes(a.x) + tensor_bytes(a.shared) + tensor_bytes(a.out)};
}
OpCost cost_of(const ScaleRowsArgs& a) noexcept { return {.bytes = 2 * tensor_bytes(a.x)}; }
OpCost cost_of(const CacheLatentsArgs& a) noexcept { return {.bytes = tensor_bytes(a.x) + bytes_as(a.x, a.cache)}; }
OpCost cost_of(const LatentAttentionArgs& a) noexcept {
  const Positions at = positions(a.sequences, 0);
  return {.bytes = tensor_bytes(a.q) + tensor_bytes(a.out) +
                   at.cached * cache_row_bytes(with_one_head(a.cache, a.q.shape[2])),
          .operations = 2 * at.visible * number(a.q.shape[1] * (a.q.shape[2] + a.out.shape[2]))};
}
OpCost cost_of(const AdapterArgs& a) noexcept {
  const int64_t parts = a.table.shape[2];
  double elements = number(parts * a.x.shape[1]);
  for (int64_t p = 0; p < parts; ++p) elements += number(a.count[p]);
  elements *= number(a.max_rank) * number(a.out.shape[0]);
  return {.bytes = 4 * elements + tensor_bytes(a.x) + 2 * tensor_bytes(a.out), .operations = 2 * elements};
}
OpCost cost_of(const LayerNormArgs& a) noexcept {
  return {.bytes = tensor_bytes(a.x) * (a.residual.is_present() ? 3 : 1) + tensor_bytes(a.out)};
}
OpCost cost_of(const GeluArgs& a) noexcept { return {.bytes = 2 * tensor_bytes(a.x)}; }
OpCost cost_of(const SiluRowsArgs& a) noexcept { return {.bytes = 2 * tensor_bytes(a.x)}; }
OpCost cost_of(const MixStreamsArgs& a) noexcept { return {.bytes = 2 * tensor_bytes(a.x) + tensor_bytes(a.out)}; }
OpCost cost_of(const InjectStreamsArgs& a) noexcept {
  return {.bytes = tensor_bytes(a.x) + 2 * tensor_bytes(a.streams)};
}
OpCost cost_of(const GateStreamsArgs& a) noexcept {
  return {.bytes = 2 * tensor_bytes(a.keys) + tensor_bytes(a.values) + tensor_bytes(a.out)};
}
OpCost cost_of(const NgramEmbeddingArgs& a) noexcept { return {.bytes = 2 * tensor_bytes(a.out)}; }
OpCost cost_of(const DilatedConvArgs& a) noexcept {
  return {.bytes = 2 * tensor_bytes(a.x) + 2 * tensor_bytes(a.out) + tensor_bytes(a.weight) +
                   2 * slots_bytes(a.tail, a.sequences),
          .operations = 2 * number(a.x.num_elements()) * number(a.weight.shape[0])};
}
OpCost cost_of(const CacheIndexKeysArgs& a) noexcept { return {.bytes = 2 * tensor_bytes(a.x)}; }
// One row of each block is read.
OpCost cost_of(const SelectBlocksArgs& a) noexcept {
  const Positions at = positions(a.sequences, 0);
  const double ratio = number(a.ratio);
  return {.bytes = tensor_bytes(a.q) + tensor_bytes(a.out) + 4 * at.cached / ratio * number(a.q.shape[2]),
          .operations = 2 * at.visible / ratio * number(a.q.shape[1] * a.q.shape[2])};
}
OpCost cost_of(const BlockAttentionArgs& a) noexcept {
  const double most = number((a.blocks.shape[1] + 1) * a.ratio - 1) * number(a.q.shape[0]);
  const double visible = std::min(positions(a.sequences, 0).visible, most);
  return {.bytes = tensor_bytes(a.q) + tensor_bytes(a.out) +
                   2 * visible * number(a.k_cache.shape[2]) * cache_row_bytes(a.k_cache),
          .operations = 4 * visible * number(a.q.shape[1] * a.q.shape[2])};
}
OpCost cost_of(const KdaArgs& a) noexcept {
  OpCost cost = delta_rule(a);
  cost.bytes += tensor_bytes(a.a) + slots_bytes(a.g_rows, a.sequences);
  return cost;
}

}  // namespace

OpCost op_cost(const ExpertMatmulArgs& a, int64_t num_used) noexcept {
  const double read = static_cast<double>(a.weight->size_bytes()) * number(num_used) / number(a.num_experts);
  return {.bytes = read + tensor_bytes(a.x) + tensor_bytes(a.out),
          .operations = 2 * number(a.out.shape[0]) * number(a.weight->rows() / a.num_experts * a.weight->cols())};
}

OpCost op_cost(OpRef op) noexcept {
  return op.visit([](const auto& args) { return cost_of(args); });
}

}  // namespace pagoda::device

// Range checks of ids, rows, slots, blocks and sequence bounds.
#include "device/host/index_checks.h"

#include <string>

#include "base/concat.h"
#include "device/device.h"
#include "device/host/access.h"

namespace pagoda::device::host {
namespace {

Status out_of_range(const char* what, int64_t index, int64_t value, int64_t limit) {
  return make_error(StatusCode::device_error, concat(what, "[", index, "] is ", value, ", outside 0 to ", limit - 1));
}

template <class T>
Status all_below(const char* what, const Tensor& t, int64_t limit) noexcept {
  const T* values = host_data<T>(t);
  for (int64_t i = 0; i < t.shape[0]; ++i)
    if (values[i] < 0 || values[i] >= limit) return out_of_range(what, i, values[i], limit);
  return ok_status();
}

// Sequences cover rows 0 .. rows in order; each has at least one row and no more rows than context tokens.
Status check_rows(const SequenceArgs& s, int64_t rows) noexcept {
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  const int32_t* context = host_data<int32_t>(s.context_lens);
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b) {
    const int64_t count = int64_t{bounds[b + 1]} - bounds[b];
    if (bounds[b] < 0 || bounds[b + 1] > rows || count < 1 || count > context[b])
      return make_error(StatusCode::device_error, concat("sequence ", b, " has rows ", bounds[b], " to ", bounds[b + 1],
                                                         " of ", rows, " and ", context[b], " tokens"));
  }
  return ok_status();
}

Status check_op(const EmbeddingArgs& args) noexcept { return all_below<int32_t>("ids", args.ids, args.table->rows()); }

Status check_op(const GatherRowsArgs& args) noexcept { return all_below<int32_t>("rows", args.rows, args.x.shape[0]); }

Status check_op(const ReshapeAndCacheArgs& args) noexcept {
  return all_below<int64_t>("slot_mapping", args.slot_mapping, args.k_cache.shape[0] * args.k_cache.shape[1]);
}

// Rows, contexts and blocks of sequences over a cache [num_blocks, block_size, ...].
Status check_blocks(const SequenceArgs& s, int64_t rows, const Tensor& cache) noexcept {
  PAGODA_RETURN_IF_ERROR(check_rows(s, rows));
  const int64_t num_blocks = cache.shape[0], block_size = cache.shape[1];
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b) {
    const int64_t context = host_data<int32_t>(s.context_lens)[b], used = (context + block_size - 1) / block_size;
    if (s.max_context > 0 && context > s.max_context)
      return out_of_range("context_lens", b, context, s.max_context + 1);
    if (used > s.block_tables.shape[1]) return out_of_range("blocks of sequence", b, used, s.block_tables.shape[1] + 1);
    const int32_t* blocks = at<int32_t>(s.block_tables, b);
    for (int64_t i = 0; i < used; ++i)
      if (blocks[i] < 0 || blocks[i] >= num_blocks) return out_of_range("block_tables row", b, blocks[i], num_blocks);
  }
  return ok_status();
}

Status check_op(const PagedAttentionArgs& args) noexcept {
  return check_blocks(args.sequences, args.q.shape[0], args.k_cache);
}

Status check_op(const LatentAttentionArgs& args) noexcept {
  return check_blocks(args.sequences, args.q.shape[0], args.cache);
}

Status check_op(const CacheLatentsArgs& args) noexcept {
  return all_below<int64_t>("slot_mapping", args.slot_mapping, args.cache.shape[0] * args.cache.shape[1]);
}

Status check_op(const CausalConv1dArgs& args) noexcept {
  PAGODA_RETURN_IF_ERROR(check_rows(args.sequences, args.x.shape[0]));
  return all_below<int32_t>("state_slots", args.sequences.state_slots, args.tail.shape[0]);
}

Status check_op(const GdnArgs& args) noexcept {
  PAGODA_RETURN_IF_ERROR(check_rows(args.sequences, args.q.shape[0]));
  return all_below<int32_t>("state_slots", args.sequences.state_slots, args.state.shape[0]);
}

Status check_op(const KdaArgs& args) noexcept {
  PAGODA_RETURN_IF_ERROR(check_rows(args.sequences, args.q.shape[0]));
  return all_below<int32_t>("state_slots", args.sequences.state_slots, args.state.shape[0]);
}

// Any id has a hash.
Status check_op(const NgramEmbeddingArgs& args) noexcept {
  PAGODA_RETURN_IF_ERROR(check_rows(args.sequences, args.ids.shape[0]));
  return all_below<int32_t>("state_slots", args.sequences.state_slots, args.tokens.shape[0]);
}

Status check_op(const DilatedConvArgs& args) noexcept {
  PAGODA_RETURN_IF_ERROR(check_rows(args.sequences, args.x.shape[0]));
  return all_below<int32_t>("state_slots", args.sequences.state_slots, args.tail.shape[0]);
}

Status check_op(const CacheIndexKeysArgs& args) noexcept {
  return check_blocks(args.sequences, args.x.shape[0], args.cache);
}

Status check_op(const SelectBlocksArgs& args) noexcept {
  return check_blocks(args.sequences, args.q.shape[0], args.cache);
}

// Chosen blocks increase and are complete; -1 after them.
Status check_op(const BlockAttentionArgs& args) noexcept {
  const SequenceArgs& s = args.sequences;
  PAGODA_RETURN_IF_ERROR(check_blocks(s, args.q.shape[0], args.k_cache));
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b)
    for (int64_t row = bounds[b]; row < bounds[b + 1]; ++row) {
      const int64_t seen = host_data<int32_t>(s.context_lens)[b] - (bounds[b + 1] - row) + 1;
      const int32_t* chosen = at<int32_t>(args.blocks, row);
      int64_t i = 0, before = -1;
      for (; i < args.blocks.shape[1] && chosen[i] >= 0; before = chosen[i++])
        if (chosen[i] <= before || chosen[i] >= seen / args.ratio)
          return out_of_range("blocks row", row, chosen[i], seen / args.ratio);
      for (; i < args.blocks.shape[1]; ++i)
        if (chosen[i] != -1) return out_of_range("blocks row", row, chosen[i], 0);
    }
  return ok_status();
}

Status check_op(const ExpertMatmulArgs& args) noexcept {
  for (int64_t t = 0; t < args.ids.shape[0]; ++t) {
    const int32_t* ids = at<int32_t>(args.ids, t);
    for (int64_t j = 0; j < args.ids.shape[1]; ++j)
      if (ids[j] < 0 || ids[j] >= args.num_experts) return out_of_range("ids row", t, ids[j], args.num_experts);
  }
  return ok_status();
}

// The entries of a slot: one for each expert and part.
Status check_entries(const AdapterArgs& args, int64_t slot) noexcept {
  const int64_t parts = args.table.shape[2], size = args.weights.shape[0], cols = args.x.shape[1];
  for (int64_t i = 0; i < args.table.shape[1] * parts; ++i) {
    const int64_t* entry = host_data<int64_t>(args.table) + (slot * args.table.shape[1] * parts + i) * kAdapterFields;
    const int64_t rank = entry[kAdapterRank], a = entry[kAdapterA], b = entry[kAdapterB];
    if (rank < 0 || rank > args.max_rank) return out_of_range("adapter rank", i, rank, args.max_rank + 1);
    if (a < 0 || a + rank * cols > size) return out_of_range("adapter offset", i, a, size - rank * cols + 1);
    if (b < 0 || b + rank * args.count[i % parts] > size) return out_of_range("adapter offset", i, b, size + 1);
  }
  return ok_status();
}

Status check_op(const AdapterArgs& args) noexcept {
  const int32_t* slots = host_data<int32_t>(args.slots);
  int32_t checked = -1;
  for (int64_t t = 0; t < args.slots.shape[0]; ++t) {
    if (slots[t] < -1 || slots[t] >= args.table.shape[0])
      return out_of_range("adapter slots", t, slots[t], args.table.shape[0]);
    if (slots[t] != checked && slots[t] >= 0) PAGODA_RETURN_IF_ERROR(check_entries(args, slots[t]));
    checked = slots[t];
    for (int64_t j = 0; args.experts.is_present() && j < args.experts.shape[1]; ++j) {
      const int32_t expert = at<int32_t>(args.experts, t)[j];
      if (expert < 0 || expert >= args.table.shape[1])
        return out_of_range("experts row", t, expert, args.table.shape[1]);
    }
  }
  return ok_status();
}

Status check_op(const ZeroSlotsArgs& args) noexcept {
  return all_below<int32_t>("slots", args.slots, args.pool.shape[0]);
}

Status check_op(const SampleArgs& args) noexcept {
  const int64_t num_edits = args.edits.is_present() ? args.edits.shape[0] : 0;
  const int64_t num_masks = args.masks.is_present() ? args.masks.shape[0] : 0;
  for (int64_t r = 0; r < args.draws.shape[0]; ++r) {
    const Draw& draw = host_data<const Draw>(args.draws)[r];
    const int64_t end = int64_t{draw.first_edit} + draw.num_edits;
    if (draw.num_edits > 0 && end > num_edits) return out_of_range("the last edit of draws", r, end - 1, num_edits);
    if (draw.mask > num_masks) return out_of_range("the mask of draws", r, int64_t{draw.mask} - 1, num_masks);
  }
  return ok_status();
}

// Other ops read no indices.
template <class Args>
Status check_op(const Args&) noexcept {
  static_assert(!requires(const Args& args) { args.sequences; }, "an op on sequences needs a check of their rows");
  return ok_status();
}

}  // namespace

Status check_indices(OpRef op) noexcept {
  return op.visit([](const auto& args) { return check_op(args); });
}

}  // namespace pagoda::device::host

// Checks counts first, then each sequence's rows, positions, blocks and slot, then the rows of logits.
#include "model/batch_check.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/concat.h"
#include "model/adapters/pool.h"

namespace pagoda::model {
namespace {

Status bad(const std::string& what) { return make_error(StatusCode::invalid_argument, "batch: " + what); }

Status bad_sequence(size_t index, const std::string& what) { return bad(concat("sequence ", index, what)); }

Status wrong_count(const char* field, size_t count, int64_t low, int64_t high) {
  return bad(concat(field, " has ", count, " entries, expected ", low, high == low ? "" : concat(" to ", high)));
}

Status check_count(const char* field, size_t count, int64_t low, int64_t high) {
  const bool is_right = static_cast<int64_t>(count) >= low && static_cast<int64_t>(count) <= high;
  return is_right ? ok_status() : wrong_count(field, count, low, high);
}

template <class T>
Status check_range(const char* field, const std::vector<T>& values, int64_t limit) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0 || values[i] >= limit)
      return bad(concat(field, "[", i, "] is ", values[i], ", must be 0 to ", limit - 1));
  return ok_status();
}

// `has_state`: whether the whole model has recurrent layers; this part of it may have none.
Status check_counts(const ForwardBatch& batch, bool has_state, const EngineLimits& sizes) {
  const int64_t tokens = batch.num_tokens(), seqs = batch.num_seqs();
  PAGODA_RETURN_IF_ERROR(check_count("token_ids", batch.token_ids.size(), 1, sizes.max_num_tokens));
  PAGODA_RETURN_IF_ERROR(check_count("positions", batch.positions.size(), tokens, tokens));
  PAGODA_RETURN_IF_ERROR(check_count("slot_mapping", batch.slot_mapping.size(), tokens, tokens));
  PAGODA_RETURN_IF_ERROR(check_count("context_lens", batch.context_lens.size(), 1, sizes.max_num_seqs));
  PAGODA_RETURN_IF_ERROR(check_count("cu_seqlens", batch.cu_seqlens.size(), seqs + 1, seqs + 1));
  const int64_t table_size = seqs * sizes.max_blocks_per_seq;
  const int64_t most = int64_t{sizes.max_num_seqs} * sizes.max_blocks_per_seq;
  PAGODA_RETURN_IF_ERROR(check_count("block_tables", batch.block_tables.size(), table_size, most));
  const int64_t num_slots = has_state ? seqs : 0;
  PAGODA_RETURN_IF_ERROR(check_count("state_slots", batch.state_slots.size(), num_slots, num_slots));
  PAGODA_RETURN_IF_ERROR(check_count("fresh_slots", batch.fresh_slots.size(), 0, num_slots));
  return check_count("logits_rows", batch.logits_rows.size(), 0, sizes.max_logits_rows);
}

Status check_adapters(const ForwardBatch& batch, const EngineLimits& sizes) {
  if (batch.adapters.empty()) return ok_status();
  if (sizes.adapter_bytes == 0) return bad("adapters for a model without memory for them");
  PAGODA_RETURN_IF_ERROR(check_count("adapters", batch.adapters.size(), batch.num_tokens(), batch.num_tokens()));
  for (size_t i = 0; i < batch.adapters.size(); ++i)
    if (batch.adapters[i] < -1 || batch.adapters[i] >= kMaxAdapters)
      return bad(concat("adapters[", i, "] is ", batch.adapters[i], ", must be -1 to ", kMaxAdapters - 1));
  return ok_status();
}

Status check_blocks(size_t b, std::span<const int32_t> blocks, const EngineLimits& sizes) {
  for (const int32_t block : blocks)
    if (block < 0 || block >= sizes.num_kv_blocks)
      return bad_sequence(b, concat(" has block ", block, " of ", sizes.num_kv_blocks));
  return ok_status();
}

// Unchanged entries were checked in the step that changed them.
Status check_table_changes(const ForwardBatch& batch, const EngineLimits& sizes) {
  for (const TableChange& c : batch.table_changes) {
    if (c.row < 0 || c.row >= batch.num_seqs() || c.first < 0 || c.count <= 0 ||
        c.count > sizes.max_blocks_per_seq - c.first)
      return bad(concat("table_changes has entries ", c.first, " and ", c.count, " more of row ", c.row, "; there are ",
                        batch.num_seqs(), " rows of ", sizes.max_blocks_per_seq));
    const int64_t offset = int64_t{c.row} * sizes.max_blocks_per_seq + c.first;
    const auto entries =
        std::span(batch.block_tables).subspan(static_cast<size_t>(offset), static_cast<size_t>(c.count));
    PAGODA_RETURN_IF_ERROR(check_blocks(static_cast<size_t>(c.row), entries, sizes));
  }
  return ok_status();
}

Status check_sequence(const ForwardBatch& batch, const cache::CacheLayout& layout, const EngineLimits& sizes,
                      size_t b) {
  const int64_t begin = batch.cu_seqlens[b], end = batch.cu_seqlens[b + 1], context = batch.context_lens[b];
  if (begin >= end || end > batch.num_tokens())
    return bad_sequence(b, concat(" has rows ", begin, " to ", end, " of ", batch.num_tokens()));
  if (context < end - begin || context > int64_t{sizes.max_blocks_per_seq} * layout.block_size)
    return bad_sequence(b, concat(" has context_lens ", context, " with ", end - begin, " rows and at most ",
                                  sizes.max_blocks_per_seq, " blocks"));
  const int32_t* blocks = batch.block_tables.data() + b * static_cast<size_t>(sizes.max_blocks_per_seq);
  if (!batch.has_table_changes) {
    const int64_t used = (context + layout.block_size - 1) / layout.block_size;
    PAGODA_RETURN_IF_ERROR(check_blocks(b, {blocks, static_cast<size_t>(used)}, sizes));
  }
  for (int64_t row = begin; row < end; ++row) {
    const int64_t position = context - end + row;
    const int64_t slot =
        int64_t{blocks[position / layout.block_size]} * layout.block_size + position % layout.block_size;
    if (batch.positions[row] != position || batch.slot_mapping[row] != slot)
      return bad_sequence(b, concat(", row ", row, " is at position ", position, " and slot ", slot,
                                    ", but positions and slot_mapping say otherwise"));
  }
  return ok_status();
}

// Two sequences in one slot would overwrite each other.
Status check_state_slots(const ForwardBatch& batch, const EngineLimits& sizes) {
  PAGODA_RETURN_IF_ERROR(check_range("state_slots", batch.state_slots, sizes.num_state_slots));
  PAGODA_RETURN_IF_ERROR(check_range("fresh_slots", batch.fresh_slots, sizes.num_state_slots));
  for (auto slot = batch.state_slots.begin(); slot != batch.state_slots.end(); ++slot)
    if (std::find(batch.state_slots.begin(), slot, *slot) != slot)
      return bad(concat("state_slots has slot ", *slot, " twice"));
  return ok_status();
}

Status check_copies(const char* field, const std::vector<Copy>& copies, int64_t limit) {
  for (size_t i = 0; i < copies.size(); ++i)
    if (std::min(copies[i].from, copies[i].to) < 0 || std::max(copies[i].from, copies[i].to) >= limit)
      return bad(
          concat(field, "[", i, "] is from ", copies[i].from, " to ", copies[i].to, ", must be 0 to ", limit - 1));
  return ok_status();
}

// A save reads the slot of the sequence of its last row, and writes to a slot that no sequence uses.
Status check_saves(const ForwardBatch& batch, const EngineLimits& sizes) {
  const int64_t max_saves = batch.state_slots.empty() ? 0 : sizes.max_state_saves;
  PAGODA_RETURN_IF_ERROR(check_count("state_saves", batch.state_saves.size(), 0, max_saves));
  int32_t last_end = 0;
  for (const StateSave& save : batch.state_saves) {
    if (save.end_row <= last_end || save.end_row > batch.num_tokens())
      return bad(
          concat("state_saves must increase from row 1 to ", batch.num_tokens(), ", one ends at ", save.end_row));
    last_end = save.end_row;
    const auto owner = std::lower_bound(batch.cu_seqlens.begin(), batch.cu_seqlens.end(), save.end_row) - 1;
    const auto& slots = batch.state_slots;
    if (save.from != slots[owner - batch.cu_seqlens.begin()] || save.to < 0 || save.to >= sizes.num_state_slots ||
        std::find(slots.begin(), slots.end(), save.to) != slots.end())
      return bad(concat("state_saves cannot copy slot ", save.from, " to ", save.to, " after row ", save.end_row));
  }
  return ok_status();
}

// Rows of images are disjoint and in order, and have coordinates.
Status check_images(const ForwardBatch& batch, const io::ModelConfig& config) {
  const int64_t tokens = batch.num_tokens(), has_images = batch.image_rows.empty() ? 0 : 1;
  if (has_images && !config.vision.is_present()) return bad("image_rows for a model without a vision tower");
  const bool has_ropes = has_images || !batch.rope_positions.empty();
  PAGODA_RETURN_IF_ERROR(
      check_count("rope_positions", batch.rope_positions.size(), has_ropes ? tokens : 0, has_ropes ? tokens : 0));
  PAGODA_RETURN_IF_ERROR(check_count("heights", batch.heights.size(), has_images * tokens, has_images * tokens));
  PAGODA_RETURN_IF_ERROR(check_count("widths", batch.widths.size(), has_images * tokens, has_images * tokens));
  int64_t row = 0;
  for (const ImageRows& image : batch.image_rows) {
    if (image.first_row < row || image.num_rows < 1 || image.first_row > tokens - image.num_rows ||
        image.first_token < 0 || image.tokens == nullptr)
      return bad(concat("image_rows has ", image.num_rows, " rows from ", image.first_row, " of ", tokens));
    row = int64_t{image.first_row} + image.num_rows;
  }
  return ok_status();
}

Status check_draws(const ForwardBatch& batch, int64_t vocab, const EngineLimits& sizes) {
  const int64_t rows = sizes.max_logits_rows, words = mask_words(vocab);
  const auto num_edits = static_cast<int64_t>(batch.edits.size()), num_words = static_cast<int64_t>(batch.masks.size());
  if (num_edits > rows * kEditsPerRow || num_words > rows * words || num_words % words != 0)
    return bad(concat("the draws have ", num_edits, " edits and masks of ", num_words, " words, for ", rows, " rows"));
  for (size_t r = 0; r < batch.draws.size(); ++r) {
    const Draw& draw = batch.draws[r];
    if (int64_t{draw.first_edit} + draw.num_edits > num_edits || int64_t{draw.mask} * words > num_words)
      return bad(concat("draw ", r, " has edits or a mask that the batch lacks"));
  }
  return ok_status();
}

}  // namespace

Status check_batch(const ForwardBatch& batch, const io::ModelConfig& config, const cache::CacheLayout& layout,
                   const EngineLimits& sizes) {
  const bool has_state = layout.has_state() || (config.is_part() && sizes.num_state_slots > 0);
  PAGODA_RETURN_IF_ERROR(check_counts(batch, has_state, sizes));
  if (batch.cu_seqlens.front() != 0 || batch.cu_seqlens.back() != batch.num_tokens())
    return bad("cu_seqlens must go from 0 to the number of tokens");
  PAGODA_RETURN_IF_ERROR(check_range("token_ids", batch.token_ids, config.vocab_size));
  PAGODA_RETURN_IF_ERROR(check_adapters(batch, sizes));
  PAGODA_RETURN_IF_ERROR(check_images(batch, config));
  PAGODA_RETURN_IF_ERROR(check_table_changes(batch, sizes));
  for (size_t b = 0; b < batch.context_lens.size(); ++b)
    PAGODA_RETURN_IF_ERROR(check_sequence(batch, layout, sizes, b));
  PAGODA_RETURN_IF_ERROR(check_state_slots(batch, sizes));
  PAGODA_RETURN_IF_ERROR(check_copies("block_copies", batch.block_copies, sizes.num_kv_blocks));
  PAGODA_RETURN_IF_ERROR(check_copies("slot_copies", batch.slot_copies, sizes.num_state_slots));
  PAGODA_RETURN_IF_ERROR(check_saves(batch, sizes));
  if (!batch.draws.empty() && batch.draws.size() != batch.logits_rows.size())
    return bad(concat("draws has ", batch.draws.size(), " entries for ", batch.logits_rows.size(), " rows of logits"));
  PAGODA_RETURN_IF_ERROR(check_draws(batch, config.vocab_size, sizes));
  return check_range("logits_rows", batch.logits_rows, batch.num_tokens());
}

}  // namespace pagoda::model

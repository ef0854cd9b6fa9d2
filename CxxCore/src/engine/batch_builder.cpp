// Flattens a StepPlan into the model's ForwardBatch.
#include "engine/batch_builder.h"

#include <algorithm>

namespace pagoda::engine {

void reserve_batch(model::ForwardBatch& batch, const EngineLimits& sizes) {
  const size_t tokens = static_cast<size_t>(sizes.max_num_tokens), seqs = static_cast<size_t>(sizes.max_num_seqs);
  batch.token_ids.reserve(tokens);
  batch.positions.reserve(tokens);
  batch.rope_positions.reserve(tokens);
  batch.heights.reserve(tokens);
  batch.widths.reserve(tokens);
  batch.image_rows.reserve(tokens);
  batch.slot_mapping.reserve(tokens);
  batch.adapters.reserve(tokens);
  batch.cu_seqlens.reserve(seqs + 1);
  batch.context_lens.reserve(seqs);
  batch.block_tables.assign(seqs * static_cast<size_t>(sizes.max_blocks_per_seq), 0);
  batch.has_table_changes = true;
  batch.table_changes.reserve(seqs);
  batch.state_slots.reserve(seqs);
  batch.fresh_slots.reserve(seqs);
  batch.logits_rows.reserve(static_cast<size_t>(sizes.max_logits_rows));
  batch.draws.reserve(static_cast<size_t>(sizes.max_logits_rows));
  batch.block_copies.reserve(seqs);
  batch.slot_copies.reserve(seqs);
  batch.state_saves.reserve(static_cast<size_t>(sizes.max_state_saves));
  batch.previous_rows.reserve(seqs);
}

static void clear(model::ForwardBatch& batch) {
  batch.token_ids.clear();
  batch.positions.clear();
  batch.rope_positions.clear();
  batch.heights.clear();
  batch.widths.clear();
  batch.image_rows.clear();
  batch.slot_mapping.clear();
  batch.adapters.clear();
  batch.cu_seqlens.clear();
  batch.context_lens.clear();
  batch.table_changes.clear();
  batch.state_slots.clear();
  batch.fresh_slots.clear();
  batch.logits_rows.clear();
  batch.draws.clear();
  batch.edits.clear();
  batch.masks.clear();
  batch.state_saves.clear();
  batch.previous_rows.clear();
}

// Updates row `index` of the tables to the current length of the row's sequence.
static void update_table(const scheduler::ScheduledSequence& scheduled, int32_t index, int32_t max_blocks_per_seq,
                         model::ForwardBatch& batch) {
  request::Sequence& sequence = *scheduled.sequence;
  const int32_t first = scheduled.keeps_index ? sequence.first_changed_block : 0;
  const int32_t end = static_cast<int32_t>(sequence.block_table.size());
  sequence.first_changed_block = end;
  if (first >= end) return;
  std::copy(sequence.block_table.begin() + first, sequence.block_table.end(),
            batch.block_tables.begin() + static_cast<std::ptrdiff_t>(index) * max_blocks_per_seq + first);
  batch.table_changes.push_back({index, first, end - first});
}

// The coordinates of a token that the batch has just received, and its row of an image.
static void add_coordinates(const request::Sequence& sequence, int32_t position, model::ForwardBatch& batch) {
  const request::RopeCoordinates at = request::rope_coordinates(sequence.images, position);
  batch.rope_positions.push_back(at.time);
  batch.heights.push_back(at.height);
  batch.widths.push_back(at.width);
  const request::ImageSpan* image = request::image_before(sequence.images, position);
  if (image == nullptr || position >= image->end()) return;
  const int32_t row = batch.num_tokens() - 1, token = position - image->begin;
  model::ImageRows* last = batch.image_rows.empty() ? nullptr : &batch.image_rows.back();
  if (last != nullptr && last->tokens == image->rows && last->first_row + last->num_rows == row &&
      last->first_token + last->num_rows == token)
    ++last->num_rows;
  else batch.image_rows.push_back({row, 1, token, image->rows});
}

// Text alone needs no coordinates besides its positions.
static void finish_coordinates(bool has_images, model::ForwardBatch& batch) {
  if (!has_images) batch.rope_positions.clear();
  if (!batch.image_rows.empty()) return;
  batch.heights.clear();
  batch.widths.clear();
}

void build_batch(const scheduler::StepPlan& plan, int32_t block_size, int32_t max_blocks_per_seq, bool has_state,
                 model::ForwardBatch& batch) {
  clear(batch);
  batch.block_copies.assign(plan.copies.blocks.begin(), plan.copies.blocks.end());
  batch.slot_copies.assign(plan.copies.slots.begin(), plan.copies.slots.end());
  batch.cu_seqlens.push_back(0);
  auto save = plan.saves.begin();
  bool has_images = false, has_adapters = false;
  for (const scheduler::ScheduledSequence& scheduled : plan.sequences) {
    const request::Sequence& sequence = *scheduled.sequence;
    has_images = has_images || !sequence.images.empty();
    const int32_t begin = sequence.num_computed_tokens, end = begin + scheduled.num_tokens + scheduled.num_drafts;
    const int32_t num_tokens = sequence.num_tokens();
    for (int32_t position = begin; position < end; ++position) {
      const int64_t block = sequence.block_table[position / block_size];
      const int32_t token = position < num_tokens ? sequence.tokens[position] : sequence.drafts[position - num_tokens];
      batch.token_ids.push_back(request::is_image_key(token) ? 0 : token);  // its embedding is replaced
      batch.positions.push_back(position);
      add_coordinates(sequence, position, batch);
      batch.slot_mapping.push_back(block * block_size + position % block_size);
      batch.adapters.push_back(sequence.adapter);
    }
    has_adapters = has_adapters || sequence.adapter >= 0;
    for (; save != plan.saves.end() && save->sequence == scheduled.sequence; ++save)
      batch.state_saves.push_back({batch.cu_seqlens.back() + save->position - begin, sequence.state_slot, save->slot});
    batch.cu_seqlens.push_back(batch.num_tokens());
    batch.context_lens.push_back(end);
    update_table(scheduled, batch.num_seqs() - 1, max_blocks_per_seq, batch);
    if (has_state) batch.state_slots.push_back(sequence.state_slot);
    if (sequence.has_fresh_slot) batch.fresh_slots.push_back(sequence.state_slot);
    for (int32_t position = num_tokens; position <= end; ++position)
      batch.logits_rows.push_back(batch.num_tokens() - 1 - (end - position));
  }
  finish_coordinates(has_images, batch);
  if (!has_adapters) batch.adapters.clear();
}

void begin_draft_batch(model::ForwardBatch& batch) {
  clear(batch);
  batch.block_copies.clear();
  batch.slot_copies.clear();
  batch.cu_seqlens.push_back(0);
}

void add_draft_row(const DraftRow& row, int32_t block_size, int32_t max_blocks_per_seq, model::ForwardBatch& batch) {
  const int64_t block = row.sequence->block_table[row.position / block_size];
  batch.logits_rows.push_back(batch.num_tokens());
  batch.token_ids.push_back(row.token);
  batch.positions.push_back(row.position);
  batch.rope_positions.push_back(request::rope_coordinates(row.sequence->images, row.position).time);
  batch.slot_mapping.push_back(block * block_size + row.position % block_size);
  batch.cu_seqlens.push_back(batch.num_tokens());
  batch.context_lens.push_back(row.position + 1);
  const int32_t index = batch.num_seqs() - 1, used = row.position / block_size + 1;
  std::copy_n(row.sequence->block_table.begin(), used,
              batch.block_tables.begin() + static_cast<std::ptrdiff_t>(index) * max_blocks_per_seq);
  batch.table_changes.push_back({index, 0, used});
  batch.state_slots.push_back(row.sequence->state_slot);
  batch.previous_rows.push_back(row.previous_row);
}

}  // namespace pagoda::engine

// Flattens a StepPlan into the model's ForwardBatch.
#include "engine/batch_builder.h"

namespace pagoda::engine {

void reserve_batch(model::ForwardBatch& batch, const model::ModelSizes& sizes) {
  const size_t tokens = static_cast<size_t>(sizes.max_num_tokens), seqs = static_cast<size_t>(sizes.max_num_seqs);
  batch.token_ids.reserve(tokens);
  batch.positions.reserve(tokens);
  batch.slot_mapping.reserve(tokens);
  batch.cu_seqlens.reserve(seqs + 1);
  batch.context_lens.reserve(seqs);
  batch.block_tables.reserve(seqs * static_cast<size_t>(sizes.max_blocks_per_seq));
  batch.state_slots.reserve(seqs);
  batch.fresh_slots.reserve(seqs);
  batch.logits_rows.reserve(seqs);
  batch.draws.reserve(seqs);
  batch.block_copies.reserve(seqs);
  batch.slot_copies.reserve(seqs);
  batch.state_saves.reserve(static_cast<size_t>(sizes.max_state_saves));
}

static void clear(model::ForwardBatch& batch) {
  batch.token_ids.clear();
  batch.positions.clear();
  batch.slot_mapping.clear();
  batch.cu_seqlens.clear();
  batch.context_lens.clear();
  batch.block_tables.clear();
  batch.state_slots.clear();
  batch.fresh_slots.clear();
  batch.logits_rows.clear();
  batch.draws.clear();
  batch.state_saves.clear();
}

void build_batch(const scheduler::StepPlan& plan, int32_t block_size, int32_t max_blocks_per_seq, bool has_state,
                 model::ForwardBatch& batch) {
  clear(batch);
  batch.block_copies.assign(plan.copies.blocks.begin(), plan.copies.blocks.end());
  batch.slot_copies.assign(plan.copies.slots.begin(), plan.copies.slots.end());
  batch.cu_seqlens.push_back(0);
  auto save = plan.saves.begin();
  for (const scheduler::ScheduledSequence& row : plan.rows) {
    const request::Sequence& sequence = *row.sequence;
    const int32_t begin = sequence.num_computed_tokens, end = begin + row.num_tokens;
    for (int32_t position = begin; position < end; ++position) {
      const int64_t block = sequence.block_table[static_cast<size_t>(position / block_size)];
      batch.token_ids.push_back(sequence.tokens[static_cast<size_t>(position)]);
      batch.positions.push_back(position);
      batch.slot_mapping.push_back(block * block_size + position % block_size);
    }
    for (; save != plan.saves.end() && save->sequence == row.sequence; ++save)
      batch.state_saves.push_back({batch.cu_seqlens.back() + save->position - begin, sequence.state_slot, save->slot});
    batch.cu_seqlens.push_back(batch.num_tokens());
    batch.context_lens.push_back(end);
    for (int32_t i = 0; i < max_blocks_per_seq; ++i) {
      const bool used = i < static_cast<int32_t>(sequence.block_table.size());
      batch.block_tables.push_back(used ? sequence.block_table[static_cast<size_t>(i)] : 0);
    }
    if (has_state) batch.state_slots.push_back(sequence.state_slot);
    if (sequence.has_fresh_slot) batch.fresh_slots.push_back(sequence.state_slot);
    if (end == sequence.num_tokens()) batch.logits_rows.push_back(batch.num_tokens() - 1);
  }
}

}  // namespace pagoda::engine

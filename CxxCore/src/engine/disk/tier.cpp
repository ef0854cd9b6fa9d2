// DiskTier: a file becomes blocks and a checkpoint as if a sequence had computed them, and the other way round.
#include "engine/disk/tier.h"

#include <new>
#include <utility>
#include <vector>

namespace pagoda::engine {

using request::Sequence;

bool DiskTier::read_for(const Sequence& sequence) {
  if (!sequence.uses_cache) return false;
  const cache::PrefixIndex::Match match = cache_.find(sequence);
  const int64_t progress = int64_t{match.num_matched} + match.num_tokens;
  if (reading_id_ == sequence.id && progress <= last_progress_) return false;
  const int64_t num_blocks = match.num_matched / store_->config().block_size;
  const auto next = store_->find_next(sequence.cache_salt, sequence.tokens, match.num_tokens, num_blocks);
  if (!next) return false;
  const auto content = store_->read(*next, sequence.cache_salt, sequence.tokens);
  if (!content.is_ok()) return true;  // it is gone; there may be another
  reading_id_ = sequence.id;
  last_progress_ = progress;
  return place(sequence, *content, next->is_last);
}

bool DiskTier::place(const Sequence& sequence, const DiskStore::Content& content, bool wants_state) {
  const bool has_state = cache_.index().has_state();
  Sequence reader;
  reader.uses_cache = true;
  reader.cache_salt = sequence.cache_salt;
  reader.tokens.assign(sequence.tokens.begin(), sequence.tokens.begin() + content.head.position);
  reader.block_table.reserve(reader.tokens.size() / static_cast<size_t>(content.head.block_size) + 1);
  if (!cache_.admit_reader(reader)) return false;
  int32_t slot = has_state && wants_state ? cache_.reserve_slot() : -1;
  bool is_good = false;
  try {
    is_good = (slot >= 0 || !has_state || !wants_state) && fill(reader, content, slot).is_ok();
    if (is_good) {
      reader.num_computed_tokens = reader.num_tokens();
      cache_.publish(reader);
      if (slot >= 0) cache_.add_checkpoint(reader, content.head.position, slot);
      slot = -1;
    }
  } catch (const std::bad_alloc&) {
    is_good = false;
  }
  if (slot >= 0) cache_.give_back_slot(slot);
  cache_.retire(reader, is_good && !has_state);
  if (sequence.num_preemptions > 0) cache_.expect_return(sequence);
  return is_good;
}

Status DiskTier::fill(Sequence& reader, const DiskStore::Content& content, int32_t slot) {
  const size_t block_bytes = static_cast<size_t>(content.head.block_bytes);
  const size_t first = static_cast<size_t>(content.head.first_block());
  if (static_cast<size_t>(reader.num_published_blocks) < first)
    return make_error(StatusCode::internal, "blocks before those of the file are missing");
  for (size_t i = static_cast<size_t>(reader.num_published_blocks); i < reader.block_table.size(); ++i)
    PAGODA_RETURN_IF_ERROR(model_.write_block(
        reader.block_table[i], std::span(content.blocks).subspan((i - first) * block_bytes, block_bytes)));
  return slot >= 0 ? model_.write_slot(slot, content.state) : ok_status();
}

void DiskTier::write(const Sequence& sequence, int32_t position, int32_t slot) {
  const std::span<const int32_t> tokens = std::span(sequence.tokens).first(static_cast<size_t>(position));
  auto head = store_->plan(sequence.cache_salt, tokens);
  if (!head) return;
  const size_t block_bytes = static_cast<size_t>(head->block_bytes);
  std::vector<std::byte> blocks(static_cast<size_t>(head->num_blocks()) * block_bytes);
  std::vector<std::byte> state(static_cast<size_t>(head->state_bytes));
  for (int64_t i = 0; i < head->num_blocks(); ++i) {
    const int64_t index = head->first_block() + i;
    const Status status =
        model_.read_block(sequence.block_table[index], static_cast<int32_t>(position - index * head->block_size),
                          std::span(blocks).subspan(static_cast<size_t>(i) * block_bytes, block_bytes));
    if (!status.is_ok()) return;
  }
  if (head->state_bytes > 0 && !model_.read_slot(slot, state).is_ok()) return;
  store_->write(std::move(*head), tokens, std::move(blocks), std::move(state));
}

}  // namespace pagoda::engine

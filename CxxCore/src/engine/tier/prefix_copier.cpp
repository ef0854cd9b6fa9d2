// PrefixCopier: turns a stored prefix into blocks and a checkpoint, and vice versa.
#include "engine/tier/prefix_copier.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "engine/step_status.h"

namespace pagoda::engine {

using request::Sequence;
using Content = PrefixStore::Content;

Status PrefixCopier::place(const std::string& salt, const Content& content, bool wants_state) {
  Target target;
  const auto tokens = std::span(content.tokens).first(static_cast<size_t>(content.head.position));
  PAGODA_RETURN_IF_ERROR(reserve(salt, tokens, wants_state, target));
  Status status;
  try {
    status = fill(target, content);
  } catch (const std::bad_alloc&) {
    status = out_of_memory();
  }
  publish(target);
  return status;
}

Status PrefixCopier::reserve(const std::string& salt, std::span<const int32_t> tokens, bool wants_state,
                             Target& target) {
  const auto full = [] { return make_error(StatusCode::resource_exhausted, "the cache has no room for the prefix"); };
  Sequence& reader = target.reader;
  reader.uses_cache = true;
  reader.cache_salt = salt;
  reader.tokens.assign(tokens.begin(), tokens.end());
  reader.block_table.reserve(tokens.size() / static_cast<size_t>(cache_.block_size()) + 1);
  if (!cache_.admit_reader(reader)) return full();
  target.num_filled = reader.num_published_blocks * cache_.block_size();
  if (!cache_.index().has_state() || !wants_state) return ok_status();
  target.slot = cache_.reserve_slot(/*is_awaited=*/true);
  if (target.slot >= 0) return ok_status();
  cache_.retire(reader, false);
  return full();
}

Status PrefixCopier::fill(Target& target, const Content& content) {
  const Sequence& reader = target.reader;
  const size_t block_bytes = static_cast<size_t>(content.head.block_bytes);
  const size_t first = static_cast<size_t>(content.head.first_block());
  if (target.num_filled < content.head.first_block() * cache_.block_size())
    return make_error(StatusCode::resource_exhausted, "the blocks before those of a prefix were evicted");
  const size_t end = first + static_cast<size_t>(content.head.num_blocks());
  for (size_t i = std::max(first, static_cast<size_t>(reader.num_published_blocks)); i < end; ++i)
    PAGODA_RETURN_IF_ERROR(model_.write_block(
        reader.block_table[i], std::span(content.blocks).subspan((i - first) * block_bytes, block_bytes)));
  target.num_filled = std::max(target.num_filled, content.head.position);
  if (target.slot < 0 || target.num_filled < reader.num_tokens()) return ok_status();
  PAGODA_RETURN_IF_ERROR(model_.write_slot(target.slot, content.state));
  target.has_state = true;
  return ok_status();
}

bool PrefixCopier::publish(Target& target) noexcept {
  Sequence& reader = target.reader;
  const bool has_state = cache_.index().has_state();
  const bool is_whole = target.num_filled >= reader.num_tokens() && (target.slot < 0 || target.has_state);
  bool is_good = target.num_filled > 0;
  int32_t slot = std::exchange(target.slot, -1);
  try {
    if (target.num_filled < reader.num_tokens()) reader.tokens.resize(static_cast<size_t>(target.num_filled));
    reader.num_computed_tokens = reader.num_tokens();
    if (is_good) cache_.publish(reader);
    if (target.has_state) cache_.add_checkpoint(reader, reader.num_tokens(), std::exchange(slot, -1));
  } catch (const std::bad_alloc&) {
    is_good = false;
  }
  if (slot >= 0) cache_.give_back_slot(slot);
  cache_.retire(reader, is_good && !has_state);
  return is_whole && is_good;
}

Result<PrefixStore::ContentPtr> PrefixCopier::copy_out(std::span<const int32_t> tokens, std::span<const int32_t> blocks,
                                                       io::PrefixFileHead head, int32_t slot,
                                                       std::span<const std::byte> open_block) {
  const size_t block_bytes = static_cast<size_t>(head.block_bytes);
  const auto content = std::make_shared<Content>();
  content->tokens.assign(tokens.begin(), tokens.begin() + head.position);
  content->blocks.resize(static_cast<size_t>(head.num_blocks()) * block_bytes);
  content->state.resize(static_cast<size_t>(head.state_bytes));
  for (int64_t i = 0; i < head.num_blocks(); ++i) {
    const int64_t index = head.first_block() + i;
    const auto num_tokens = static_cast<int32_t>(head.position - index * head.block_size);
    const auto to = std::span(content->blocks).subspan(static_cast<size_t>(i) * block_bytes, block_bytes);
    if (num_tokens < head.block_size && open_block.size() == block_bytes) std::ranges::copy(open_block, to.begin());
    else PAGODA_RETURN_IF_ERROR(model_.read_block(blocks[static_cast<size_t>(index)], num_tokens, to));
  }
  if (head.state_bytes > 0) PAGODA_RETURN_IF_ERROR(model_.read_slot(slot, content->state));
  content->head = std::move(head);
  return PrefixStore::ContentPtr(content);
}

}  // namespace pagoda::engine

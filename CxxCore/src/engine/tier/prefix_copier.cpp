// PrefixCopier: turns a stored prefix into blocks and a checkpoint, and vice versa.
#include "engine/tier/prefix_copier.h"

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "engine/step_status.h"

namespace pagoda::engine {

using request::Sequence;
using Content = PrefixStore::Content;

Status PrefixCopier::place(const std::string& salt, const Content& content, bool wants_state) {
  const bool has_state = cache_.index().has_state();
  Sequence reader;
  reader.uses_cache = true;
  reader.cache_salt = salt;
  reader.tokens.assign(content.tokens.begin(), content.tokens.begin() + content.head.position);
  reader.block_table.reserve(reader.tokens.size() / static_cast<size_t>(content.head.block_size) + 1);
  const auto full = [] { return make_error(StatusCode::resource_exhausted, "the cache has no room for the prefix"); };
  if (!cache_.admit_reader(reader)) return full();
  int32_t slot = has_state && wants_state ? cache_.reserve_slot(/*is_awaited=*/true) : -1;
  Status status = slot >= 0 || !has_state || !wants_state ? ok_status() : full();
  try {
    if (status.is_ok()) status = fill(reader, content, slot);
    if (status.is_ok()) {
      reader.num_computed_tokens = reader.num_tokens();
      cache_.publish(reader);
      if (slot >= 0) cache_.add_checkpoint(reader, content.head.position, slot);
      slot = -1;
    }
  } catch (const std::bad_alloc&) {
    status = out_of_memory();
  }
  if (slot >= 0) cache_.give_back_slot(slot);
  cache_.retire(reader, status.is_ok() && !has_state);
  return status;
}

Status PrefixCopier::fill(Sequence& reader, const Content& content, int32_t slot) {
  const size_t block_bytes = static_cast<size_t>(content.head.block_bytes);
  const size_t first = static_cast<size_t>(content.head.first_block());
  if (static_cast<size_t>(reader.num_published_blocks) < first)
    return make_error(StatusCode::resource_exhausted, "the blocks before those of a prefix were evicted");
  for (size_t i = static_cast<size_t>(reader.num_published_blocks); i < reader.block_table.size(); ++i)
    PAGODA_RETURN_IF_ERROR(model_.write_block(
        reader.block_table[i], std::span(content.blocks).subspan((i - first) * block_bytes, block_bytes)));
  return slot >= 0 ? model_.write_slot(slot, content.state) : ok_status();
}

Result<PrefixStore::ContentPtr> PrefixCopier::copy_out(std::span<const int32_t> tokens, std::span<const int32_t> blocks,
                                                       io::PrefixFileHead head, int32_t slot) {
  const size_t block_bytes = static_cast<size_t>(head.block_bytes);
  const auto content = std::make_shared<Content>();
  content->tokens.assign(tokens.begin(), tokens.begin() + head.position);
  content->blocks.resize(static_cast<size_t>(head.num_blocks()) * block_bytes);
  content->state.resize(static_cast<size_t>(head.state_bytes));
  for (int64_t i = 0; i < head.num_blocks(); ++i) {
    const int64_t index = head.first_block() + i;
    PAGODA_RETURN_IF_ERROR(model_.read_block(
        blocks[static_cast<size_t>(index)], static_cast<int32_t>(head.position - index * head.block_size),
        std::span(content->blocks).subspan(static_cast<size_t>(i) * block_bytes, block_bytes)));
  }
  if (head.state_bytes > 0) PAGODA_RETURN_IF_ERROR(model_.read_slot(slot, content->state));
  content->head = std::move(head);
  return PrefixStore::ContentPtr(content);
}

}  // namespace pagoda::engine

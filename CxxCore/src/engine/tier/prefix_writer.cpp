// Which parts of a prefix to store, and where they start.
#include "engine/tier/prefix_writer.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace pagoda::engine {
namespace {

// The first `position` tokens. Stores with the same parent share the copy.
void keep(PrefixCopier& copier, std::span<const std::shared_ptr<PrefixStore>> stores, const PrefixWrite& write,
          int32_t position) {
  const std::span<const int32_t> tokens = std::span(write.tokens).first(static_cast<size_t>(position));
  PrefixStore::ContentPtr content;
  for (const auto& store : stores) {
    auto head = store->plan(write.salt, tokens);
    if (!head) continue;
    if (!content || content->head.parent_key != head->parent_key) {
      auto copy = copier.copy_out(write.tokens, write.held.blocks, std::move(*head), write.held.slot, write.open_block);
      if (!copy.is_ok()) return;  // the device failed
      content = std::move(*copy);
    }
    store->write(content);
  }
}

}  // namespace

// Without a state, a prefix may start at any block: parts that others may start with are stored separately, each once.
void write_prefix(PrefixCopier& copier, std::span<const std::shared_ptr<PrefixStore>> stores, bool has_state,
                  const PrefixWrite& write) noexcept {
  constexpr int32_t kGrid = 256, kMaxParts = 32;
  const auto position = static_cast<int32_t>(write.tokens.size());
  try {
    if (has_state) return keep(copier, stores, write, position);
    const int32_t block_size = stores.front()->layout().block_size;
    const int32_t prompt_end = (write.num_prompt_tokens - 1) / block_size * block_size;
    int32_t step = kGrid;
    while (position / step > kMaxParts) step *= 2;
    for (int32_t end = 0; end < position;) {
      int32_t next = std::min(end / step * step + step, position);
      if (end < prompt_end) next = std::min(next, prompt_end);
      keep(copier, stores, write, end = next);
    }
  } catch (const std::exception&) {  // no memory
  }
}

}  // namespace pagoda::engine

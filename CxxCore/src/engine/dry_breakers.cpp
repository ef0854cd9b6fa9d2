// The vocabulary is searched outside the lock: a new list does not delay other requests.
#include "engine/dry_breakers.h"

#include <algorithm>
#include <string_view>

namespace pagoda::engine {

std::shared_ptr<const std::vector<int32_t>> DryBreakers::find(const text::SubwordTokenizer* tokenizer,
                                                              int32_t vocab_size,
                                                              const std::vector<std::string>& breakers) {
  {
    std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(entries_, breakers, &Entry::breakers);
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
      return found->ids;
    }
  }
  auto ids = std::make_shared<std::vector<int32_t>>();
  for (int32_t id = 0; tokenizer && id < vocab_size; ++id) {
    const std::string_view bytes = tokenizer->token_bytes(id);
    if (std::ranges::any_of(breakers,
                            [&](const std::string& text) { return bytes.find(text) != std::string_view::npos; }))
      ids->push_back(id);
  }
  std::lock_guard lock(mutex_);
  entries_.push_front({breakers, ids});
  if (entries_.size() > kMaxLists) entries_.pop_back();
  return ids;
}

}  // namespace pagoda::engine

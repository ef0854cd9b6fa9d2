// Sorted tokens become nodes in the order of a depth-first walk.
#include "grammar/mask/token_trie.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "grammar/mask/plain_text.h"

namespace pagoda::grammar {

TokenTrie::TokenTrie(const text::SubwordTokenizer& tokenizer, bool plain, size_t above)
    : no_token_(tokenizer.vocab_size()) {
  std::vector<std::pair<std::string_view, int32_t>> tokens;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string_view bytes = tokenizer.token_bytes(id);
    if (bytes.size() <= above || bytes.size() > kMaxTokenBytes || tokenizer.is_verbatim(id)) continue;
    if (is_plain_text(bytes) != plain) continue;
    tokens.emplace_back(bytes, id);
    max_depth_ = std::max(max_depth_, bytes.size());
  }
  std::ranges::sort(tokens);
  std::vector<size_t> open;  // nodes that are prefixes of the previous token, by depth
  const auto close = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) nodes_[open.back()].skip = static_cast<int32_t>(nodes_.size());
  };
  std::string_view before;
  for (const auto& [bytes, id] : tokens) {
    size_t shared = static_cast<size_t>(std::ranges::mismatch(before, bytes).in1 - before.begin());
    if (shared == bytes.size()) --shared;  // two tokens of the same bytes: a second node for the last
    close(shared);
    for (size_t i = shared; i < bytes.size(); ++i) {
      open.push_back(nodes_.size());
      nodes_.push_back({no_token_, 0, static_cast<uint16_t>(i), static_cast<uint8_t>(bytes[i])});
    }
    nodes_.back().token = id;
    before = bytes;
  }
  close(0);
}

}  // namespace pagoda::grammar

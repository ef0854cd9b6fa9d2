// TokenTrie: the tokens of a vocabulary in one array, such that tokens with a common prefix are adjacent and a
// traversal can skip all of them together. Immutable once built; any thread may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/bpe/tokenizer.h"

namespace pagoda::grammar {

class TokenTrie {
 public:
  struct Node {
    int32_t token;   // the token that ends here, or no_token(): a separate id, so that a traversal needs no branch
    int32_t skip;    // the next node without this prefix
    uint16_t depth;  // bytes before this one
    uint8_t byte;
  };

  // Added and control tokens are excluded, because they are not text of a document. So are tokens longer than
  // kMaxTokenBytes.
  static constexpr size_t kMaxTokenBytes = 1024;
  // Includes the tokens that are plain text (see PlainText), or those that are not, of more than `above` bytes.
  TokenTrie(const text::SubwordTokenizer& tokenizer, bool plain, size_t above);

  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  int32_t no_token() const noexcept { return no_token_; }   // one above all ids
  size_t max_depth() const noexcept { return max_depth_; }  // bytes of the longest token

 private:
  std::vector<Node> nodes_;  // depth first
  int32_t no_token_ = 0;
  size_t max_depth_ = 0;
};

}  // namespace pagoda::grammar

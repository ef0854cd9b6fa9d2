// LookupIndex: where the end of a text stood before in the same text. The tokens that followed there are a draft of
// what follows now: files that are edited, quotations, keys of JSON, loops. Holds positions only; the tokens stay with
// their owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::speculate {

class LookupIndex {
 public:
  static constexpr int32_t kMinMatch = 3;   // tokens; shorter repetitions say nothing
  static constexpr int32_t kMaxMatch = 64;  // longer ones say no more
  static constexpr int32_t kMaxLooks = 32;  // earlier positions compared, the most recent first

  struct Match {
    int32_t length = 0;  // tokens before the end that are the same; 0: none
    int32_t next = 0;    // index of the token that followed
  };

  // For a text of at most `max_tokens`: nothing is allocated later.
  explicit LookupIndex(int32_t max_tokens);

  // Takes up the tokens that came since the last call: `tokens` is the whole text.
  void follow(std::span<const int32_t> tokens) noexcept;

  // The longest match with the end of the text taken up so far; of equally long ones the most recent.
  Match find(std::span<const int32_t> tokens) const noexcept;

 private:
  size_t bucket_of(std::span<const int32_t> tokens, int32_t last) const noexcept;

  int32_t num_tokens_ = 0;
  std::vector<int32_t> newest_;   // by bucket: the last position whose kMinMatch tokens fall into it; -1: none
  std::vector<int32_t> earlier_;  // by position: the one before it in its bucket
};

// Appends what followed a match, up to `max_drafts` tokens. Where the match overlaps the end, the text is a loop, and
// goes round.
void draft_from(const LookupIndex::Match& match, std::span<const int32_t> tokens, int32_t max_drafts,
                std::vector<int32_t>& drafts);

}  // namespace pagoda::speculate

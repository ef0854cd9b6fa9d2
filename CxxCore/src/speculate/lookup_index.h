// LookupIndex: earlier occurrences of the end of a text in the same text. The tokens that followed there are a draft of
// the next tokens: edited files, quotations, JSON keys, loops. Contains only positions; the tokens stay with
// their owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::speculate {

class LookupIndex {
 public:
  static constexpr int32_t kMinMatch = 3;   // tokens; shorter repetitions predict nothing
  static constexpr int32_t kMaxMatch = 64;  // longer ones predict no better
  static constexpr int32_t kMaxLooks = 32;  // earlier positions to compare, the most recent first

  struct Match {
    int32_t length = 0;  // matching tokens before the end; 0: none
    int32_t next = 0;    // index of the token that followed
  };

  // Allocates for a text of at most `max_tokens`; later calls do not allocate.
  explicit LookupIndex(int32_t max_tokens);

  // Adds the tokens since the last call: `tokens` is the whole text. After more than `max_tokens`, nothing is found.
  void follow(std::span<const int32_t> tokens) noexcept;

  // The longest match with the end of the text so far; of equally long ones the most recent.
  Match find(std::span<const int32_t> tokens) const noexcept;

 private:
  size_t bucket_of(std::span<const int32_t> tokens, int32_t last) const noexcept;

  int32_t num_tokens_ = 0;
  std::vector<int32_t> newest_;   // by bucket: the last position whose kMinMatch tokens fall into it; -1: none
  std::vector<int32_t> earlier_;  // by position: the one before it in its bucket
};

// Appends the tokens that followed a match, up to `max_drafts`. If the match overlaps the end, the text is a loop, and
// the draft repeats it.
void draft_from(const LookupIndex::Match& match, std::span<const int32_t> tokens, int32_t max_drafts,
                std::vector<int32_t>& drafts);

}  // namespace pagoda::speculate

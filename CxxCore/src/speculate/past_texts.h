// PastTexts: recent answers under each cache salt, and occurrences of a text's end in them. Salts are isolated:
// otherwise the speed of one client's answer would reveal another client's answers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pagoda::speculate {

class PastTexts {
 public:
  static constexpr int32_t kMinMatch = 8;           // tokens; shorter ones are better found in the text itself
  static constexpr int32_t kMaxMatch = 64;          // longer ones predict no better
  static constexpr int32_t kMaxLooks = 16;          // positions to compare, the most recent first
  static constexpr int32_t kMaxTokens = 32 * 1024;  // per salt: 0.6 MiB with its index
  static constexpr size_t kMaxSalts = 16;           // the least recently used one is evicted

  struct Match {
    int32_t length = 0;  // matching tokens before the end; 0: none
    const std::vector<int32_t>* from = nullptr;
    int64_t next = 0;  // position of the token that followed
  };

  // Stores a finished answer. Dropped if there is no memory for it, or if it has fewer than kMinMatch tokens.
  void add(const std::string& salt, std::span<const int32_t> tokens) noexcept;

  // The longest match with the end of `tokens`; of equally long ones the most recent. Valid until the next add().
  Match find(const std::string& salt, std::span<const int32_t> tokens) noexcept;

  // Appends the tokens that followed a match, up to `max_drafts` and not past the end of its text.
  static void draft_from(const Match& match, int32_t max_drafts, std::vector<int32_t>& drafts);

 private:
  // A ring of tokens, each text ending with kEnd; positions increase without limit.
  struct Salt {
    explicit Salt(std::string name);
    void push(int32_t token) noexcept;
    int32_t at(int64_t position) const noexcept { return tokens[position % kMaxTokens]; }
    bool holds(int64_t position) const noexcept { return position >= 0 && position >= num_pushed - kMaxTokens; }

    std::string name;
    std::vector<int32_t> tokens;   // [kMaxTokens]
    std::vector<int64_t> newest;   // by bucket: the last position whose kMinMatch tokens fall into it; -1: none
    std::vector<int64_t> earlier;  // by position in the ring: the one before it in its bucket
    int64_t num_pushed = 0, num_used = 0;
  };
  static constexpr int32_t kEnd = -1;

  Salt* salt_of(const std::string& name) noexcept;

  std::vector<std::unique_ptr<Salt>> salts_;
  int64_t num_uses_ = 0;
};

}  // namespace pagoda::speculate

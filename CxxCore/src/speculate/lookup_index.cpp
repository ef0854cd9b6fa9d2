// LookupIndex: positions by a hash of their last few tokens, chained from the newest to the oldest.
#include "speculate/lookup_index.h"

#include <algorithm>
#include <bit>

namespace pagoda::speculate {

LookupIndex::LookupIndex(int32_t max_tokens)
    : newest_(std::bit_ceil(static_cast<size_t>(std::clamp(max_tokens, 256, 1 << 20))), -1) {
  earlier_.reserve(static_cast<size_t>(std::max(max_tokens, 0)));
}

size_t LookupIndex::bucket_of(std::span<const int32_t> tokens, int32_t last) const noexcept {
  uint64_t hash = 0;
  for (int32_t i = last + 1 - kMinMatch; i <= last; ++i)
    hash = (hash ^ static_cast<uint32_t>(tokens[i])) * 0x9e3779b97f4a7c15u;
  return static_cast<size_t>(hash >> 40) & (newest_.size() - 1);
}

void LookupIndex::follow(std::span<const int32_t> tokens) noexcept {
  for (; num_tokens_ < static_cast<int32_t>(tokens.size()) && earlier_.size() < earlier_.capacity(); ++num_tokens_) {
    int32_t before = -1;
    if (num_tokens_ + 1 >= kMinMatch) {
      int32_t& newest = newest_[bucket_of(tokens, num_tokens_)];
      before = newest;
      newest = num_tokens_;
    }
    earlier_.push_back(before);
  }
}

LookupIndex::Match LookupIndex::find(std::span<const int32_t> tokens) const noexcept {
  Match best;
  if (num_tokens_ < kMinMatch || num_tokens_ < static_cast<int32_t>(tokens.size())) return best;  // full: see follow()
  const int32_t end = num_tokens_ - 1;
  int32_t position = earlier_[end];
  for (int32_t looks = 0; position >= 0 && looks < kMaxLooks; ++looks, position = earlier_[position]) {
    int32_t length = 0;
    while (length < kMaxMatch && length <= position && tokens[position - length] == tokens[end - length]) ++length;
    if (length >= kMinMatch && length > best.length) best = {length, position + 1};
    if (best.length == kMaxMatch) break;
  }
  return best;
}

void draft_from(const LookupIndex::Match& match, std::span<const int32_t> tokens, int32_t max_drafts,
                std::vector<int32_t>& drafts) {
  if (match.length == 0) return;
  const size_t first = drafts.size();
  for (int32_t i = 0; i < max_drafts; ++i) {
    const size_t at = static_cast<size_t>(match.next + i);
    drafts.push_back(at < tokens.size() ? tokens[at] : drafts[first + at - tokens.size()]);
  }
}

}  // namespace pagoda::speculate

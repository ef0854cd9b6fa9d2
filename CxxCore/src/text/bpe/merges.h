// MergeTable: which pairs of adjacent tokens merge, and with which priority. Immutable once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pagoda::text {

class MergeTable {
 public:
  static constexpr size_t kMaxMerges = (1 << 22) - 1;
  static constexpr uint32_t kNoRank = kMaxMerges;

  // Ranks follow the call order; at most kMaxMerges calls. If a pair is added twice, the later call wins.
  void add(int32_t left, int32_t right, int32_t merged) {
    entries_.push_back(key_of(left, right) << kRankBits | merged_.size());
    merged_.push_back(merged);
  }
  // Call once, after the last add. Returns false for adversarial pairs whose lookup would exceed kMaxProbes.
  static constexpr size_t kMaxProbes = 1000;
  bool build();
  size_t size() const noexcept { return merged_.size(); }

  uint32_t rank(int32_t left, int32_t right) const noexcept {  // kNoRank if they do not merge
    const uint64_t key = key_of(left, right);
    for (size_t i = slot_of(key);; i = (i + 1) & mask_) {
      const uint64_t entry = entries_[i];
      if (entry >> kRankBits == key) return static_cast<uint32_t>(entry) & kNoRank;
      if (entry == kEmpty) return kNoRank;
    }
  }
  int32_t merged(uint32_t rank) const noexcept { return merged_[rank]; }

 private:
  static constexpr int kRankBits = 22, kIdBits = 21;
  static constexpr uint64_t kEmpty = UINT64_MAX;
  static uint64_t key_of(int32_t left, int32_t right) noexcept {
    return static_cast<uint64_t>(left) << kIdBits | static_cast<uint64_t>(right);
  }
  size_t slot_of(uint64_t key) const noexcept { return (key * 0x9E3779B97F4A7C15) >> shift_; }

  // Left id, right id and rank packed in one word, so that a table of 2^18 merges fits a core's cache (4 MiB). Sorted
  // by rank until build(), then an open-addressing table at most half full.
  std::vector<uint64_t> entries_;
  std::vector<int32_t> merged_;  // by rank
  size_t mask_ = 0;
  int shift_ = 63;
};

}  // namespace pagoda::text

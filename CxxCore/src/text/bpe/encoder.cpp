// Merges the pair of lowest rank first, leftmost on ties. Short words by scanning, long ones with a heap.
#include "text/bpe/encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

#include "text/unicode/unicode.h"

namespace pagoda::text {

bool MergeTable::build() {
  std::vector<uint64_t> by_rank;
  by_rank.swap(entries_);
  const size_t num_slots = std::bit_ceil(std::max<size_t>(by_rank.size() * 2, 2));
  entries_.assign(num_slots, kEmpty);
  mask_ = num_slots - 1;
  shift_ = 64 - std::countr_zero(num_slots);
  for (const uint64_t entry : by_rank) {
    size_t i = slot_of(entry >> kRankBits);
    for (size_t probes = 0; entries_[i] != kEmpty && entries_[i] >> kRankBits != entry >> kRankBits; ++probes) {
      if (probes == kMaxProbes) return false;
      i = (i + 1) & mask_;
    }
    entries_[i] = entry;
  }
  return true;
}

void BpeEncoder::encode_word(std::string_view word) {
  if (word.size() > kMaxCachedBytes) return merge_word(word);
  std::array<uint64_t, 2> key{};
  std::memcpy(key.data(), word.data(), word.size());
  reinterpret_cast<unsigned char*>(key.data())[15] = static_cast<unsigned char>(word.size());
  const uint64_t hash = (key[0] * 0x9E3779B97F4A7C15) ^ (key[1] * 0xC2B2AE3D27D4EB4F);
  CachedWord& cached = cache_[(hash ^ hash >> 32) % kCacheSlots];
  if (cached.key == key) {
    for (uint32_t i = 0; i < cached.count; ++i) ids_.push_back(ids_[cached.first + i]);
    return;
  }
  const size_t first = ids_.size();
  merge_word(word);
  cached = {key, static_cast<uint32_t>(first), static_cast<uint32_t>(ids_.size() - first)};
}

void BpeEncoder::merge_word(std::string_view word) {
  if (model_.ignore_merges) {
    const int32_t id = model_.vocabulary.find_bytes(word);
    if (id != BpeVocabulary::kNone) return ids_.push_back(id);
  }
  symbols_.clear();
  model_.is_sentencepiece ? start_from_characters(word) : start_from_bytes(word);
  if (symbols_.empty()) return;
  ranks_.resize(symbols_.size());
  for (size_t i = 0; i + 1 < symbols_.size(); ++i) ranks_[i] = model_.merges.rank(symbols_[i], symbols_[i + 1]);
  ranks_.back() = MergeTable::kNoRank;
  if (symbols_.size() <= kShortWord) {
    merge_short();
  } else {
    merge_long();
  }
}

void BpeEncoder::start_from_bytes(std::string_view word) {
  bool last_unknown = false;
  for (const char c : word) {
    const int32_t id = model_.byte_ids[static_cast<unsigned char>(c)];
    const bool unknown = id == model_.unknown_id;
    if (id == BpeVocabulary::kNone || (unknown && last_unknown && model_.fuse_unknown)) continue;
    last_unknown = unknown;
    symbols_.push_back(id);
  }
}

// As in the reference, an unknown token is written only at the next known character, after the bytes in between.
void BpeEncoder::start_from_characters(std::string_view word) {
  bool is_waiting = false;  // an unknown token
  const auto write_unknown = [&] {
    if (std::exchange(is_waiting, false)) symbols_.push_back(model_.unknown_id);
  };
  for (size_t begin = 0; begin < word.size();) {
    const std::string_view character = word.substr(begin, read_character(word.data() + begin).num_bytes);
    begin += character.size();
    if (const int32_t id = model_.vocabulary.find_bytes(character); id != BpeVocabulary::kNone) {
      write_unknown();
      symbols_.push_back(id);
      continue;
    }
    const auto id_of = [&](char c) { return model_.byte_ids[static_cast<unsigned char>(c)]; };
    if (std::ranges::all_of(character, [&](char c) { return id_of(c) != BpeVocabulary::kNone; })) {
      for (const char c : character) symbols_.push_back(id_of(c));
      continue;
    }
    if (model_.unknown_id == BpeVocabulary::kNone) continue;
    if (!model_.fuse_unknown) write_unknown();
    is_waiting = true;
  }
  write_unknown();
}

void BpeEncoder::merge_short() {
  size_t count = symbols_.size();
  int32_t* symbols = symbols_.data();
  uint32_t* ranks = ranks_.data();
  while (true) {
    uint32_t best = MergeTable::kNoRank;
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
      at = ranks[i] < best ? i : at;
      best = ranks[i] < best ? ranks[i] : best;
    }
    if (best == MergeTable::kNoRank) break;
    symbols[at] = model_.merges.merged(best);
    --count;
    std::memmove(symbols + at + 1, symbols + at + 2, (count - at - 1) * sizeof(*symbols));
    std::memmove(ranks + at, ranks + at + 1, (count - at) * sizeof(*ranks));
    if (at + 1 < count) ranks[at] = model_.merges.rank(symbols[at], symbols[at + 1]);
    if (at > 0) ranks[at - 1] = model_.merges.rank(symbols[at - 1], symbols[at]);
  }
  ids_.insert(ids_.end(), symbols, symbols + count);
}

void BpeEncoder::merge_long() {
  constexpr uint32_t kNoPosition = UINT32_MAX;
  const auto count = static_cast<uint32_t>(symbols_.size());
  previous_.resize(count);
  next_.resize(count);
  heap_.clear();
  const auto lowest_first = std::greater<uint64_t>();
  const auto entry_of = [&](uint32_t at) { return uint64_t{ranks_[at]} << 32 | at; };
  for (uint32_t i = 0; i < count; ++i) {
    previous_[i] = i == 0 ? kNoPosition : i - 1;
    next_[i] = i + 1 == count ? kNoPosition : i + 1;
    if (ranks_[i] != MergeTable::kNoRank) heap_.push_back(entry_of(i));
  }
  std::make_heap(heap_.begin(), heap_.end(), lowest_first);
  const auto update = [&](uint32_t at) {
    ranks_[at] = next_[at] == kNoPosition ? MergeTable::kNoRank : model_.merges.rank(symbols_[at], symbols_[next_[at]]);
    if (ranks_[at] == MergeTable::kNoRank) return;
    heap_.push_back(entry_of(at));
    std::push_heap(heap_.begin(), heap_.end(), lowest_first);
  };
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), lowest_first);
    const uint64_t entry = heap_.back();
    heap_.pop_back();
    const auto at = static_cast<uint32_t>(entry);
    if (entry != entry_of(at)) continue;  // stale: its pair has changed since
    const uint32_t gone = next_[at];
    symbols_[at] = model_.merges.merged(ranks_[at]);
    next_[at] = next_[gone];
    if (next_[at] != kNoPosition) previous_[next_[at]] = at;
    ranks_[gone] = MergeTable::kNoRank;
    update(at);
    if (previous_[at] != kNoPosition) update(previous_[at]);
  }
  for (uint32_t i = 0; i != kNoPosition; i = next_[i]) ids_.push_back(symbols_[i]);
}

}  // namespace pagoda::text

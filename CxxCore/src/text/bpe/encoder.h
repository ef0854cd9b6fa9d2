// BpeEncoder: turns words into tokens for one encode() call; holds its scratch memory. Single threaded.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/bpe/merges.h"
#include "text/bpe/vocabulary.h"

namespace pagoda::text {

struct BpeModel {
  BpeVocabulary vocabulary;
  MergeTable merges;
  std::array<int32_t, 256> byte_ids{};  // initial token of each byte: its own, the unknown token, or kNone (dropped)
  bool is_sentencepiece = false;        // words start as characters, or as bytes where a character has no token
  int32_t unknown_id = BpeVocabulary::kNone;
  bool fuse_unknown = false;   // adjacent unknown bytes become one token
  bool ignore_merges = false;  // a word that is a token is not merged
};

class BpeEncoder {
 public:
  BpeEncoder(const BpeModel& model, std::vector<int32_t>& ids) : model_(model), ids_(ids), cache_(kCacheSlots) {}
  void encode_word(std::string_view word);

 private:
  // A word of at most 15 bytes, and the position of its tokens in ids_ from its last occurrence.
  struct CachedWord {
    std::array<uint64_t, 2> key{};  // the bytes, zero-padded, with the length in the last one
    uint32_t first = 0, count = 0;
  };
  static constexpr size_t kCacheSlots = 1 << 11;
  static constexpr size_t kMaxCachedBytes = 15;
  static constexpr size_t kShortWord = 64;  // bytes; longer words use a heap

  void merge_word(std::string_view word);
  void start_from_bytes(std::string_view word);
  void start_from_characters(std::string_view word);
  void merge_short();
  void merge_long();

  const BpeModel& model_;
  std::vector<int32_t>& ids_;
  std::vector<CachedWord> cache_;
  // The word being merged: tokens, and the merge rank of each token with the next.
  std::vector<int32_t> symbols_;
  std::vector<uint32_t> ranks_;
  // Only for long words.
  std::vector<uint32_t> previous_, next_;
  std::vector<uint64_t> heap_;  // rank in the upper half, position in the lower
};

}  // namespace pagoda::text

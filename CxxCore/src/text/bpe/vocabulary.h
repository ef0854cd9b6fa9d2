// BpeVocabulary: the tokens of a byte-level or SentencePiece vocabulary, by id and by content. Immutable once loaded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::text {

// In tokenizer.json a byte-level token spells each of its bytes as one printable character. A token spelled with any
// other character represents its own spelling ("verbatim") and is unreachable by BPE.
class BpeVocabulary {
 public:
  static constexpr int32_t kNone = -1;
  static constexpr int64_t kMaxTokens = 1 << 21;  // exclusive limit of ids; the largest vocabularies have 2^18

  // Call before adding the first token. Spellings are then text with U+2581 for spaces (text/sentencepiece_rules.h); if
  // `has_bytes`, "<0x41>" is a byte, which no text matches.
  void use_sentencepiece(bool has_bytes) noexcept;
  int32_t byte_id(unsigned char byte) const noexcept { return byte_ids_[byte]; }  // for SentencePiece; kNone if absent

  // Add a model token, or an added token, which is verbatim. Messages name the token, not the file.
  Status add(std::string_view spelling, int64_t id);
  Status add_verbatim(std::string_view spelling, int64_t id);

  // Longer probe sequences mean adversarial input; real vocabularies stay below 60.
  static constexpr size_t kMaxProbes = 1000;

  int32_t find_bytes(std::string_view bytes) const noexcept { return find(bytes, /*verbatim=*/false); }
  int32_t find_spelling(std::string_view spelling) const noexcept;
  // Whether token `id` is the concatenation of the two others, which must exist.
  bool is_join(int32_t id, int32_t left, int32_t right) const noexcept;
  bool has(int32_t id) const noexcept {
    return static_cast<size_t>(id) < tokens_.size() && tokens_[id].offset != kAbsent;
  }
  bool is_verbatim(int32_t id) const noexcept { return has(id) && tokens_[id].verbatim; }
  std::string_view bytes(int32_t id) const noexcept {  // empty for absent ids
    return has(id) ? std::string_view(arena_).substr(tokens_[id].offset, tokens_[id].length) : std::string_view();
  }
  std::string spelling(int32_t id) const;
  int32_t size() const noexcept { return static_cast<int32_t>(tokens_.size()); }  // highest id + 1

 private:
  static constexpr uint32_t kAbsent = UINT32_MAX;
  struct Token {
    uint32_t offset = kAbsent;  // in arena_
    uint32_t length : 30 = 0;
    uint32_t is_byte : 1 = 0;
    uint32_t verbatim : 1 = 0;
  };
  struct Slot {  // a slot of an open-addressing table, at most half full
    uint32_t tag = 0;
    int32_t id = kNone;
  };

  Status check_id(std::string_view spelling, int64_t id) const;
  Status add_sentencepiece_token(std::string_view spelling, int64_t id);
  Status store(std::string_view bytes, bool verbatim, int32_t id);
  int32_t find(std::string_view bytes, bool verbatim) const noexcept;
  bool put(Slot slot, uint64_t hash);  // false after kMaxProbes
  bool grow_slots();

  std::string arena_;  // the bytes of all tokens
  std::vector<Token> tokens_;
  std::vector<Slot> slots_{1 << 10};
  size_t num_used_ = 0;
  bool is_sentencepiece_ = false, has_bytes_ = false;
  std::array<int32_t, 256> byte_ids_ = all_none();

  static constexpr std::array<int32_t, 256> all_none() noexcept {
    std::array<int32_t, 256> ids{};
    for (int32_t& id : ids) id = kNone;
    return ids;
  }
};

}  // namespace pagoda::text

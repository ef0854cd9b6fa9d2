// SentencePieceRules: how a SentencePiece-style tokenizer writes spaces and splits words. Its file writes a space as
// U+2581; here it is a plain space, and U+2581 in a text also counts as a space.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/normalizer.h"

namespace pagoda::text {

struct SentencePieceRules {
  enum class Prefix : uint8_t { never, first, always };
  enum class Strip : uint8_t { none, one_space, first_token };

  bool prepends = false;          // the normalizer adds a space before every part between added tokens
  Prefix prefix = Prefix::never;  // Metaspace adds a space before the first part, or before each part that has none
  bool splits = false;            // Metaspace starts a word at every space
  Strip strip = Strip::none;      // stripped from the start when decoding: one space, or all spaces of the first token
  bool nfc = false;
};

// Whether a tokenizer.json with this pre_tokenizer describes SentencePiece tokens instead of bytes: Metaspace, a Split
// at spaces, or none with byte_fallback.
bool has_sentencepiece_cutter(const io::Json* pre_tokenizer, bool byte_fallback);

// Reads `normalizer`, `pre_tokenizer` and `decoder`; messages begin with `file_name`.
Result<SentencePieceRules> read_sentencepiece_rules(const io::Json& top, const std::string& file_name);

// Appends `text` (valid UTF-8, covered by `runs`) as the normalizer leaves it, and the runs that cover it.
void append_spaced(std::string_view text, const std::vector<OriginRun>& runs, bool prepends, std::string& out,
                   std::vector<OriginRun>& out_runs);

// Convert a token's spelling to text with spaces instead of U+2581, and back.
std::string spaced_token(std::string_view spelling);
std::string spelled_token(std::string_view bytes);

// The byte that "<0x41>" stands for, or -1.
int byte_of_token(std::string_view spelling) noexcept;

}  // namespace pagoda::text

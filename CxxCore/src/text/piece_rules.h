// PieceRules: how a SentencePiece-style tokenizer writes spaces and cuts words. In its file U+2581 stands for a space;
// in here a space does, and U+2581 in a text is one too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/normalizer.h"

namespace pagoda::text {

struct PieceRules {
  enum class Prefix : uint8_t { never, first, always };
  enum class Strip : uint8_t { none, one_space, first_token };

  bool prepends = false;          // the normalizer: a space before every part between added tokens
  Prefix prefix = Prefix::never;  // Metaspace: a space before the first part, or before each that has none
  bool splits = false;            // Metaspace: a word begins at every space
  Strip strip = Strip::none;      // what decoding takes from the beginning: a space, or all of the first token's
  bool nfc = false;
};

// Whether a tokenizer.json with this pre_tokenizer has pieces instead of bytes: Metaspace, a Split at spaces, or none
// with byte_fallback.
bool has_piece_cutter(const io::Json* pre_tokenizer, bool byte_fallback);

// Reads `normalizer`, `pre_tokenizer` and `decoder`; messages begin with `file_name`.
Result<PieceRules> read_piece_rules(const io::Json& top, const std::string& file_name);

// Appends `text` (valid UTF-8, covered by `runs`) as the normalizer leaves it, and the runs that cover it.
void append_pieces(std::string_view text, const std::vector<OriginRun>& runs, bool prepends, std::string& out,
                   std::vector<OriginRun>& out_runs);

// A piece's spelling with spaces for U+2581, and back.
std::string spaced_piece(std::string_view spelling);
std::string spelled_piece(std::string_view bytes);

// The byte that "<0x41>" stands for, or -1.
int byte_of_piece(std::string_view spelling) noexcept;

}  // namespace pagoda::text

// TokenizerFile: tokenizer.json, parsed and validated. Every byte of it is untrusted until then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/added_tokens.h"
#include "text/bpe/encoder.h"
#include "text/pre_tokenizer.h"
#include "text/sentencepiece_rules.h"
#include "text/unigram.h"

namespace pagoda::text {

struct TokenizerFile {
  BpeModel model;  // without added tokens
  PreTokenizer pre_tokenizer;
  bool nfc = false;                      // the normalizer: NFC or none
  SentencePieceRules sentencepiece;      // instead of the two above, if model.is_sentencepiece
  UnigramModel unigram;                  // instead of merges, if it is used
  std::vector<AddedToken> added_tokens;  // in file order
  std::vector<int32_t> start_ids;        // ids that post_processor prepends to a text
  std::vector<int32_t> end_ids;          // ids that it appends
};

Result<TokenizerFile> read_tokenizer_file(std::string_view json, const std::string& file_name);

}  // namespace pagoda::text

// SubwordTokenizer: byte-level BPE, or SentencePiece-style tokens, as a tokenizer.json describes it. Immutable after
// loading; any thread may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pagoda/chat_template.h"
#include "text/sentencepiece_rules.h"

namespace pagoda::text {

class SubwordTokenizer {
 public:
  // `post_processor` is not applied: encode() adds no tokens of its own. If a model needs a start-of-text token, its
  // chat template writes it; for text without a template, prepend start_ids().
  static Result<std::shared_ptr<const SubwordTokenizer>> from_json(std::string_view tokenizer_json,
                                                                   const std::string& file_name);
  ~SubwordTokenizer();

  // Appends the ids of `text`, which must be UTF-8 of less than 1 GiB (else invalid_argument, with `ids` unchanged).
  // parse_special: spellings of special tokens become those tokens; other added tokens are always matched, as in the
  // reference.
  Status encode(std::string_view text, bool parse_special, std::vector<int32_t>& ids) const;

  // The same for rendered prompts: one text, tokenized across segment boundaries, in which special tokens, and added
  // tokens spelled like tags (<think>), are recognised only where their whole spelling came from the template.
  Status encode(std::span<const PromptSegment> segments, std::vector<int32_t>& ids) const;

  const std::vector<int32_t>& start_ids() const noexcept;
  const std::vector<int32_t>& end_ids() const noexcept;  // for the end of a text that will not be continued

  // The leading space to strip after decoding: SentencePiece tokens start words with a space that the text did not
  // have.
  SentencePieceRules::Strip strip() const noexcept;

  // The bytes a token represents (for a special token: its spelling). Empty for unknown ids.
  std::string_view token_bytes(int32_t id) const noexcept;
  bool is_special(int32_t id) const noexcept;
  bool has_token(int32_t id) const noexcept;
  bool is_verbatim(
      int32_t id) const noexcept;  // an added or control token: represents its spelling, unreachable by BPE
  int32_t find_token(std::string_view spelling) const noexcept;  // -1 if absent
  std::string token_spelling(int32_t id) const;                  // as in tokenizer.json
  int32_t vocab_size() const noexcept;                           // highest id + 1

 private:
  SubwordTokenizer();
  struct Encoders;
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace pagoda::text

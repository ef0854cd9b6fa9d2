// Tokenizer: text to token ids and back, according to the model's tokenizer.json. Immutable, so any thread may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pagoda/chat_template.h"
#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {
class Tokenizer;
namespace text {
class SubwordTokenizer;
}
}  // namespace pagoda

void pagoda_tokenizer_retain(pagoda::Tokenizer* PAGODA_NONNULL tokenizer) noexcept;
void pagoda_tokenizer_release(pagoda::Tokenizer* PAGODA_NONNULL tokenizer) noexcept;

namespace pagoda {

struct EncodeResult {
  Status status;
  std::vector<int32_t> ids;
};

struct DecodeResult {
  Status status;
  std::string text;  // valid UTF-8; bytes that form no character become U+FFFD
};

class PAGODA_SHARED_REFERENCE(pagoda_tokenizer_retain, pagoda_tokenizer_release) Tokenizer {
 public:
  // parse_special: whether the spelling of a control token in `text` becomes that token. False for user text,
  // true for text rendered by a chat template.
  EncodeResult encode(const std::string& text, bool parse_special) const noexcept;

  // Ids that precede a text not rendered by a chat template (<|begin_of_text|> of Llama 3); usually empty.
  std::vector<int32_t> start_ids() const noexcept;

  // Ids that follow a text that will not be continued, such as one to embed; usually empty.
  std::vector<int32_t> end_ids() const noexcept;

  // A rendered prompt: tokenized as one text, with control tokens only where the template wrote them.
  EncodeResult encode_prompt(const std::vector<PromptSegment>& segments) const noexcept;

  // skip_special: omit control tokens from the text.
  DecodeResult decode(const std::vector<int32_t>& ids, bool skip_special) const noexcept;

  int32_t vocab_size() const noexcept;                        // ids are below this
  int32_t token_id(const std::string& token) const noexcept;  // -1 if there is no such token
  std::string token_text(int32_t id) const noexcept;          // spelling in tokenizer.json; empty if unknown
  bool is_special(int32_t id) const noexcept;

  explicit Tokenizer(std::shared_ptr<const text::SubwordTokenizer> impl) noexcept;
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

 private:
  friend void ::pagoda_tokenizer_retain(Tokenizer* PAGODA_NONNULL) noexcept;
  friend void ::pagoda_tokenizer_release(Tokenizer* PAGODA_NONNULL) noexcept;
  std::shared_ptr<const text::SubwordTokenizer> impl_;
  int64_t references_ = 1;  // atomic by builtin
};

}  // namespace pagoda

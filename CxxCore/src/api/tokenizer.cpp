// Tokenizer of the public headers: a shared SubwordTokenizer whose exceptions become a Status.
#include "pagoda/tokenizer.h"

#include <utility>

#include "api/guard.h"
#include "text/bpe/tokenizer.h"
#include "text/detokenizer.h"

void pagoda_tokenizer_retain(pagoda::Tokenizer* tokenizer) noexcept { pagoda::api::retain(tokenizer->references_); }

void pagoda_tokenizer_release(pagoda::Tokenizer* tokenizer) noexcept {
  if (pagoda::api::release(tokenizer->references_)) delete tokenizer;
}

namespace pagoda {

Tokenizer::Tokenizer(std::shared_ptr<const text::SubwordTokenizer> impl) noexcept : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

EncodeResult Tokenizer::encode(const std::string& text, bool parse_special) const noexcept {
  return api::guarded_result<EncodeResult>(
      [&](EncodeResult& result) { return impl_->encode(std::string_view(text), parse_special, result.ids); });
}

std::vector<int32_t> Tokenizer::start_ids() const noexcept {
  return api::value_or_empty([&] { return impl_->start_ids(); });
}

std::vector<int32_t> Tokenizer::end_ids() const noexcept {
  return api::value_or_empty([&] { return impl_->end_ids(); });
}

EncodeResult Tokenizer::encode_prompt(const std::vector<PromptSegment>& segments) const noexcept {
  return api::guarded_result<EncodeResult>([&](EncodeResult& result) { return impl_->encode(segments, result.ids); });
}

DecodeResult Tokenizer::decode(const std::vector<int32_t>& ids, bool skip_special) const noexcept {
  return api::guarded_result<DecodeResult>([&](DecodeResult& result) {
    text::Detokenizer detokenizer(impl_.get(), skip_special);
    for (const int32_t id : ids) detokenizer.push(id, result.text);
    detokenizer.finish(result.text);
    return ok_status();
  });
}

int32_t Tokenizer::vocab_size() const noexcept { return impl_->vocab_size(); }

int32_t Tokenizer::token_id(const std::string& token) const noexcept { return impl_->find_token(token); }

std::string Tokenizer::token_text(int32_t id) const noexcept {
  return api::value_or_empty([&] { return impl_->token_spelling(id); });
}

bool Tokenizer::is_special(int32_t id) const noexcept { return impl_->is_special(id); }

}  // namespace pagoda

// The seam's Tokenizer: the text room's tokenizer behind a reference count, with every exception turned into a Status.
#include "pagoda/tokenizer.h"

#include <new>
#include <utility>

#include "text/bpe/tokenizer.h"
#include "text/detokenizer.h"

void pagoda_tokenizer_retain(pagoda::Tokenizer* tokenizer) noexcept {
  __atomic_fetch_add(&tokenizer->references_, 1, __ATOMIC_RELAXED);
}

void pagoda_tokenizer_release(pagoda::Tokenizer* tokenizer) noexcept {
  if (__atomic_sub_fetch(&tokenizer->references_, 1, __ATOMIC_ACQ_REL) == 0) delete tokenizer;
}

namespace pagoda {

namespace {

// The messages are short enough to need no allocation of their own.
Status no_memory() noexcept { return make_error(StatusCode::out_of_memory, "tokenizer"); }
Status unexpected() noexcept { return make_error(StatusCode::internal, "tokenizer"); }

template <class Result, class F>
Result guarded(F&& body) noexcept {
  try {
    Result result;
    result.status = body(result);
    return result;
  } catch (const std::bad_alloc&) {
    return {no_memory(), {}};
  } catch (...) {
    return {unexpected(), {}};
  }
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const text::BpeTokenizer> impl) noexcept : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

EncodeResult Tokenizer::encode(const std::string& text, bool parse_special) const noexcept {
  return guarded<EncodeResult>(
      [&](EncodeResult& result) { return impl_->encode(std::string_view(text), parse_special, result.ids); });
}

std::vector<int32_t> Tokenizer::start_ids() const noexcept {
  try {
    return impl_->start_ids();
  } catch (...) {
    return {};
  }
}

EncodeResult Tokenizer::encode_prompt(const std::vector<PromptPiece>& pieces) const noexcept {
  return guarded<EncodeResult>([&](EncodeResult& result) { return impl_->encode(pieces, result.ids); });
}

DecodeResult Tokenizer::decode(const std::vector<int32_t>& ids, bool skip_special) const noexcept {
  return guarded<DecodeResult>([&](DecodeResult& result) {
    text::Detokenizer detokenizer(impl_.get(), skip_special);
    for (const int32_t id : ids) detokenizer.push(id, result.text);
    detokenizer.finish(result.text);
    return ok_status();
  });
}

int32_t Tokenizer::vocab_size() const noexcept { return impl_->vocab_size(); }

int32_t Tokenizer::token_id(const std::string& token) const noexcept { return impl_->find_token(token); }

std::string Tokenizer::token_text(int32_t id) const noexcept {
  try {
    return impl_->token_spelling(id);
  } catch (...) {
    return {};
  }
}

bool Tokenizer::is_special(int32_t id) const noexcept { return impl_->is_special(id); }

}  // namespace pagoda

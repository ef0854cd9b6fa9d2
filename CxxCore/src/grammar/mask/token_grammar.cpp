// Computes masks by one traversal of the vocabulary, cached by configuration.
#include "grammar/mask/token_grammar.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/concat.h"

namespace pagoda::grammar {

static void allow(int32_t token, std::vector<uint64_t>& mask) noexcept {
  mask[static_cast<size_t>(token) / 64] |= uint64_t{1} << (token % 64);
}

Vocabulary::Vocabulary(const text::SubwordTokenizer& tokenizer, int32_t model_size, std::vector<int32_t> ends)
    : plain_mask(static_cast<size_t>(std::max(model_size, tokenizer.vocab_size() + 1)) / 64 + 1),
      other(tokenizer, /*plain=*/false, /*above=*/0),
      size(model_size),
      end_of_text_ids(std::move(ends)) {
  for (const size_t length : kLengths)
    plain.push_back({TokenTrie(tokenizer, /*plain=*/true, length), std::vector<uint64_t>(plain_mask.size())});
  plain_up_to.assign(kMaxCharacters, std::vector<uint64_t>(plain_mask.size()));
  for (const TokenTrie::Node& node : plain[0].longer.nodes()) {
    allow(node.token, plain_mask);
    const std::string_view bytes = tokenizer.token_bytes(node.token);
    for (size_t i = 0; i < plain.size(); ++i)
      if (bytes.size() <= kLengths[i]) allow(node.token, plain[i].mask);
    const auto starts = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
    for (size_t i = static_cast<size_t>(std::ranges::count_if(bytes, starts)); i < kMaxCharacters; ++i)
      allow(node.token, plain_up_to[i]);
  }
  for (const char* tag : {"<tool_call>", "</tool_call>"}) {
    const int32_t id = tokenizer.find_token(tag);
    if (id >= 0 && id < model_size && tokenizer.is_verbatim(id)) markup.emplace_back(id, tag);
  }
}

std::shared_ptr<const Mask> TokenGrammar::allowed(int32_t id, size_t max_work) {
  const size_t max_masks = kMaxMaskBytes / (static_cast<size_t>(vocabulary_->size) / 8 + 1) + 1;
  if (generation_ != automaton_.generation() || masks_.size() > max_masks) masks_.clear();
  generation_ = automaton_.generation();
  if (const auto cached = masks_.find(id); cached != masks_.end()) return cached->second;
  automaton_.begin_work(max_work);
  Mask mask = compute(id);
  num_bytes_ = grammar_bytes_ + automaton_.num_bytes() + masks_.size() * (mask.size() * sizeof(uint64_t) + 128);
  if (automaton_.is_exhausted()) {
    if (max_work >= Automaton::kMaxWork) note_too_costly();
    return nullptr;
  }
  return masks_.emplace(id, std::make_shared<const Mask>(std::move(mask))).first->second;
}

Mask TokenGrammar::compute(int32_t id) {
  const auto size = static_cast<size_t>(vocabulary_->size);
  const std::vector<Vocabulary::PlainTokens>& plain = vocabulary_->plain;
  Mask mask;
  if (const auto count = plain_text_.num_characters(automaton_, id, Vocabulary::kMaxCharacters)) {
    mask = vocabulary_->plain_up_to[*count];
  } else {
    const size_t max_bytes = plain[0].longer.max_depth();
    const size_t free_bytes = plain_text_.num_free_bytes(automaton_, id, max_bytes);
    size_t i = plain.size() - 1;
    while (Vocabulary::kLengths[i] > free_bytes) --i;
    mask = free_bytes == max_bytes ? vocabulary_->plain_mask : plain[i].mask;
    if (free_bytes < max_bytes) walk(plain[i].longer, id, mask);
  }
  walk(vocabulary_->other, id, mask);
  if (has_markup_) add_markup(id, mask);
  if (automaton_.is_complete(id)) {
    for (const int32_t end : vocabulary_->end_of_text_ids) allow(end, mask);
  }
  const auto no_token = static_cast<size_t>(vocabulary_->other.no_token());  // below `size` if a model has spare ids
  mask[no_token / 64] &= ~(uint64_t{1} << (no_token % 64));
  mask.resize((size + 63) / 64);
  if (size % 64 != 0) mask.back() &= (uint64_t{1} << (size % 64)) - 1;
  return mask;
}

Status TokenGrammar::check_start() {
  (void)automaton_.start();
  if (automaton_.is_exhausted()) note_too_costly();
  return status();
}

Status TokenGrammar::status() const {
  if (!is_too_costly_) return ok_status();
  return make_error(StatusCode::unsupported,
                    concat("the grammar is too ambiguous to enforce: to find the tokens that may come next, more than ",
                           Automaton::kMaxWork,
                           " states would have to be looked at; use fewer alternatives, or simpler patterns in them"));
}

void TokenGrammar::walk(const TokenTrie& trie, int32_t id, std::vector<uint64_t>& mask) {
  walk_.resize(trie.max_depth() + 1);
  walk_[0] = id;
  const std::vector<TokenTrie::Node>& nodes = trie.nodes();
  for (size_t i = 0; i < nodes.size();) {
    const TokenTrie::Node& node = nodes[i];
    const int32_t next = automaton_.next(walk_[node.depth], node.byte);
    if (next == Automaton::kDead) {
      i = static_cast<size_t>(node.skip);
      continue;
    }
    walk_[node.depth + size_t{1}] = next;
    allow(node.token, mask);
    ++i;
  }
}

void TokenGrammar::add_markup(int32_t id, std::vector<uint64_t>& mask) {
  for (const auto& [token, spelling] : vocabulary_->markup) {
    int32_t at = id;
    for (size_t i = 0; i < spelling.size() && at != Automaton::kDead; ++i)
      at = automaton_.next(at, static_cast<uint8_t>(spelling[i]));
    if (at != Automaton::kDead) allow(token, mask);
  }
}

Matcher::Matcher(std::shared_ptr<TokenGrammar> grammar) : grammar_(std::move(grammar)) {
  take(grammar_->automaton().start());
  if (grammar_->automaton().is_exhausted()) grammar_->note_too_costly();
}

void Matcher::take(int32_t id) {
  description_ = grammar_->automaton().describe(id);
  id_ = id;
  generation_ = grammar_->automaton().generation();
}

int32_t Matcher::id() {
  Automaton& automaton = grammar_->automaton();
  automaton.forget_if_large();
  if (generation_ != automaton.generation()) take(automaton.find_described(description_));
  return id_;
}

std::shared_ptr<const Mask> Matcher::find_mask(size_t max_work) { return grammar_->allowed(id(), max_work); }

std::span<const uint64_t> Matcher::allowed() {
  const std::shared_ptr<const Mask> mask = find_mask(Automaton::kMaxWork);
  return mask ? std::span(*mask) : std::span<const uint64_t>();
}

bool Matcher::accept(std::string_view bytes) {
  int32_t at = id();
  grammar_->automaton().begin_work();
  for (const char byte : bytes) {
    at = grammar_->automaton().next(at, static_cast<uint8_t>(byte));
    if (at != Automaton::kDead) continue;
    if (grammar_->automaton().is_exhausted()) grammar_->note_too_costly();
    return false;
  }
  take(at);
  return true;
}

bool Matcher::is_complete() { return grammar_->automaton().is_complete(id()); }

bool Matcher::must_end() { return is_complete() && !grammar_->automaton().can_continue(id_); }

}  // namespace pagoda::grammar

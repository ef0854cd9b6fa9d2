// Masks by one walk over the vocabulary, remembered by configuration.
#include "grammar/token_grammar.h"

#include <algorithm>
#include <utility>

namespace pagoda::grammar {

static void allow(int32_t token, std::vector<uint64_t>& mask) noexcept {
  mask[static_cast<size_t>(token) / 64] |= uint64_t{1} << (token % 64);
}

Vocabulary::Vocabulary(const text::BpeTokenizer& tokenizer, int32_t model_size, std::vector<int32_t> ends)
    : plain(tokenizer, /*plain=*/true),
      other(tokenizer, /*plain=*/false),
      plain_mask(static_cast<size_t>(std::max(model_size, plain.no_token() + 1)) / 64 + 1),
      size(model_size),
      end_of_text_ids(std::move(ends)) {
  for (const TokenTrie::Node& node : plain.nodes()) allow(node.token, plain_mask);
}

std::span<const uint64_t> TokenGrammar::allowed(int32_t id) {
  const size_t max_masks = kMaxMaskBytes / (static_cast<size_t>(vocabulary_->size) / 8 + 1) + 1;
  if (generation_ != automaton_.generation() || masks_.size() > max_masks) masks_.clear();
  generation_ = automaton_.generation();
  const auto [found, is_new] = masks_.try_emplace(id);
  if (is_new) found->second = compute(id);
  return found->second;
}

std::vector<uint64_t> TokenGrammar::compute(int32_t id) {
  const auto size = static_cast<size_t>(vocabulary_->size);
  const bool takes_plain = plain_text_.can_follow(automaton_, id, vocabulary_->plain.max_depth());
  const std::vector<uint64_t>& plain = vocabulary_->plain_mask;
  std::vector<uint64_t> mask = takes_plain ? plain : std::vector<uint64_t>(plain.size(), 0);
  if (!takes_plain) walk(vocabulary_->plain, id, mask);
  walk(vocabulary_->other, id, mask);
  if (automaton_.is_complete(id)) {
    for (const int32_t end : vocabulary_->end_of_text_ids) allow(end, mask);
  }
  mask.resize((size + 63) / 64);  // what lies above the model's ids, no_token() included
  if (size % 64 != 0) mask.back() &= (uint64_t{1} << (size % 64)) - 1;
  return mask;
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

Matcher::Matcher(std::shared_ptr<TokenGrammar> grammar) : grammar_(std::move(grammar)) {
  take(grammar_->automaton().start());
}

void Matcher::take(int32_t id) {
  id_ = id;
  generation_ = grammar_->automaton().generation();
  description_ = grammar_->automaton().describe(id);
}

int32_t Matcher::id() {
  Automaton& automaton = grammar_->automaton();
  automaton.forget_if_large();
  if (generation_ != automaton.generation()) take(automaton.find_described(description_));
  return id_;
}

std::span<const uint64_t> Matcher::allowed() { return grammar_->allowed(id()); }

bool Matcher::accept(std::string_view bytes) {
  int32_t at = id();
  for (const char byte : bytes) {
    at = grammar_->automaton().next(at, static_cast<uint8_t>(byte));
    if (at == Automaton::kDead) return false;
  }
  take(at);
  return true;
}

bool Matcher::is_complete() { return grammar_->automaton().is_complete(id()); }

bool Matcher::must_end() { return is_complete() && !grammar_->automaton().can_continue(id_); }

}  // namespace pagoda::grammar

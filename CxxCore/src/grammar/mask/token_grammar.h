// TokenGrammar: a grammar over the tokens of one vocabulary: determines which tokens may come next.
// Thread rule: one thread at a time, the MaskWorker's; status() may be called from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grammar/automaton.h"
#include "grammar/mask/plain_text.h"
#include "grammar/mask/token_trie.h"

namespace pagoda::grammar {

using Mask = std::vector<uint64_t>;  // bit i % 64 of word i / 64: whether token i may come next

// State shared by all grammars of an engine.
struct Vocabulary {
  Vocabulary(const text::SubwordTokenizer& tokenizer, int32_t size, std::vector<int32_t> end_of_text_ids);

  // Tokens of plain text by length: if any text of that many bytes is accepted, only longer tokens are examined.
  static constexpr size_t kLengths[] = {0, 3, 8, 16};
  struct PlainTokens {
    TokenTrie longer;            // tokens longer than the entry of kLengths
    std::vector<uint64_t> mask;  // the shorter tokens
  };
  std::vector<PlainTokens> plain;  // one entry per length in kLengths
  // Tokens of plain text by number of characters: if the remaining length of a string is known, no token is examined.
  static constexpr size_t kMaxCharacters = 32;
  std::vector<std::vector<uint64_t>> plain_up_to;  // [kMaxCharacters]: element n has the tokens of at most n characters
  std::vector<uint64_t> plain_mask;                // all tokens of plain text
  TokenTrie other;                                 // tokens that are not plain text
  int32_t size;                                    // ids of the model: masks have a bit for each
  std::vector<int32_t> end_of_text_ids;            // allowed if the document may end
  std::vector<std::pair<int32_t, std::string>> markup{};  // added tokens that frame a call, with their spelling
};

class TokenGrammar {
 public:
  static constexpr size_t kMaxMaskBytes = 4 << 20;  // limit for cached masks

  TokenGrammar(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const Vocabulary> vocabulary)
      : plain_text_(*grammar),
        has_markup_(grammar->has_markup()),
        grammar_bytes_(grammar->num_bytes()),
        automaton_(std::move(grammar)),
        vocabulary_(std::move(vocabulary)) {}

  Automaton& automaton() noexcept { return automaton_; }

  // The tokens allowed after configuration `id`. Null if computing them takes more than `max_work` (see Automaton);
  // if that is Automaton::kMaxWork, status() is not ok from then on.
  std::shared_ptr<const Mask> allowed(int32_t id, size_t max_work = Automaton::kMaxWork);
  void note_too_costly() noexcept { is_too_costly_ = true; }
  Status status() const;  // any thread
  Status check_start();   // not ok if the grammar begins in too many ways

  size_t num_bytes() const noexcept { return num_bytes_; }  // of memory, about; any thread

 private:
  Mask compute(int32_t id);
  void walk(const TokenTrie& trie, int32_t id, std::vector<uint64_t>& mask);
  void add_markup(int32_t id, std::vector<uint64_t>& mask);

  PlainText plain_text_;
  bool has_markup_;
  size_t grammar_bytes_;
  std::atomic<size_t> num_bytes_{grammar_bytes_};
  Automaton automaton_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::unordered_map<int32_t, std::shared_ptr<const Mask>> masks_;  // valid for the automaton's generation_
  uint64_t generation_ = 0;
  std::vector<int32_t> walk_;  // configuration by depth
  std::atomic<bool> is_too_costly_{false};
};

// The state of one answer. Copies are independent.
class Matcher {
 public:
  explicit Matcher(std::shared_ptr<TokenGrammar> grammar);

  std::shared_ptr<const Mask> find_mask(size_t max_work);  // see TokenGrammar::allowed
  std::span<const uint64_t> allowed();                     // empty if too costly; valid until the next call
  bool accept(std::string_view bytes);  // false, and nothing changed, if no document continues with these bytes
  bool is_complete();                   // the document may end here
  bool must_end();                      // the document must end here: nothing can follow
  Status status() const { return grammar_->status(); }

 private:
  int32_t id();  // computed again if the automaton was cleared
  void take(int32_t id);

  std::shared_ptr<TokenGrammar> grammar_;
  int32_t id_;
  uint64_t generation_;
  std::vector<int32_t> description_;
};

}  // namespace pagoda::grammar

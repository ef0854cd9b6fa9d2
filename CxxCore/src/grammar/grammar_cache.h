// GrammarCache: the grammars an engine has compiled lately, and the vocabulary they share. Any thread may use it.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/result.h"
#include "grammar/mask/token_grammar.h"
#include "pagoda/grammar.h"
#include "text/bpe/tokenizer.h"

namespace pagoda::grammar {

class GrammarCache {
 public:
  // Schemas come from strangers, each could be another one: what is kept is bounded.
  static constexpr size_t kMaxGrammars = 8;
  static constexpr size_t kMaxStates = 400'000;  // of all of them together

  // tokenizer: null when the model has none; then every grammar is refused.
  GrammarCache(std::shared_ptr<const text::BpeTokenizer> tokenizer, int32_t vocab_size,
               std::vector<int32_t> end_of_text_ids);

  Result<std::shared_ptr<TokenGrammar>> find_or_compile(const GrammarSpec& spec);

 private:
  struct Entry {
    std::string key;
    int32_t num_states;
    std::shared_ptr<TokenGrammar> grammar;
  };
  std::shared_ptr<TokenGrammar> find(const std::string& key);
  std::shared_ptr<const Vocabulary> vocabulary();
  void keep(Entry entry);

  const std::shared_ptr<const text::BpeTokenizer> tokenizer_;
  const int32_t vocab_size_;
  const std::vector<int32_t> end_of_text_ids_;
  std::mutex mutex_;                              // guards what follows
  std::shared_ptr<const Vocabulary> vocabulary_;  // made for the first grammar: most engines never need it
  std::list<Entry> entries_;                      // the latest used first
};

}  // namespace pagoda::grammar

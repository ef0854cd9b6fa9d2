// GrammarCache: an engine's recently compiled grammars, and the vocabulary they share. Any thread may use it.
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
  // Schemas come from untrusted clients, and each may be different: the cache is bounded.
  static constexpr size_t kMaxGrammars = 64;
  static constexpr size_t kMaxBytes = size_t{192} << 20;  // of all cached grammars together, with their masks

  // tokenizer: null if the model has none; then every grammar is refused.
  GrammarCache(std::shared_ptr<const text::SubwordTokenizer> tokenizer, int32_t vocab_size,
               std::vector<int32_t> end_of_text_ids);

  // The field of an error is "tools" or "grammar": what in the request has the constraint.
  Result<std::shared_ptr<TokenGrammar>> find_or_compile(const GrammarSpec& spec);
  bool has(const GrammarSpec& spec);  // whether find_or_compile() would find it

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<TokenGrammar> grammar;
  };
  Result<std::shared_ptr<TokenGrammar>> find_or_make(const GrammarSpec& spec);
  std::shared_ptr<TokenGrammar> find(const std::string& key);
  std::shared_ptr<const Vocabulary> vocabulary();
  void keep(Entry entry);
  void evict();  // requires the mutex

  const std::shared_ptr<const text::SubwordTokenizer> tokenizer_;
  const int32_t vocab_size_;
  const std::vector<int32_t> end_of_text_ids_;
  std::mutex mutex_;                              // guards the members below
  std::shared_ptr<const Vocabulary> vocabulary_;  // created for the first grammar: most engines never need it
  std::list<Entry> entries_;                      // most recently used first
};

}  // namespace pagoda::grammar

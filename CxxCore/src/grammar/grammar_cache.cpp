// Compiles outside the lock: a request with a slow schema does not delay the others.
#include "grammar/grammar_cache.h"

#include <algorithm>

#include "base/assign_or_return.h"
#include "grammar/compile.h"

namespace pagoda::grammar {

GrammarCache::GrammarCache(std::shared_ptr<const text::SubwordTokenizer> tokenizer, int32_t vocab_size,
                           std::vector<int32_t> end_of_text_ids)
    : tokenizer_(std::move(tokenizer)), vocab_size_(vocab_size), end_of_text_ids_(std::move(end_of_text_ids)) {}

static std::string key_of(const GrammarSpec& spec) {
  return std::string(1, static_cast<char>(spec.kind)) + spec.schema;
}

bool GrammarCache::has(const GrammarSpec& spec) { return find(key_of(spec)) != nullptr; }

Result<std::shared_ptr<TokenGrammar>> GrammarCache::find_or_compile(const GrammarSpec& spec) {
  Result<std::shared_ptr<TokenGrammar>> grammar = find_or_make(spec);
  if (!grammar.is_ok() && grammar.status.field == nullptr)
    grammar.status.field = spec.kind == GrammarKind::tool_calls ? "tools" : "grammar";
  return grammar;
}

Result<std::shared_ptr<TokenGrammar>> GrammarCache::find_or_make(const GrammarSpec& spec) {
  if (!tokenizer_)
    return make_error(StatusCode::invalid_argument, "a grammar needs a tokenizer, and this model folder has none");
  std::string key = key_of(spec);
  if (std::shared_ptr<TokenGrammar> cached = find(key)) {
    if (Status status = cached->status(); !status.is_ok()) return status;
    return cached;
  }
  PAGODA_ASSIGN_OR_RETURN(Grammar compiled, compile(spec));
  auto grammar = std::make_shared<TokenGrammar>(std::make_shared<const Grammar>(std::move(compiled)), vocabulary());
  PAGODA_RETURN_IF_ERROR(grammar->check_start());
  keep({std::move(key), grammar});
  return grammar;
}

std::shared_ptr<TokenGrammar> GrammarCache::find(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  evict();
  return entries_.front().grammar;
}

std::shared_ptr<const Vocabulary> GrammarCache::vocabulary() {
  std::lock_guard lock(mutex_);
  if (!vocabulary_) vocabulary_ = std::make_shared<const Vocabulary>(*tokenizer_, vocab_size_, end_of_text_ids_);
  return vocabulary_;
}

void GrammarCache::keep(Entry entry) {
  std::lock_guard lock(mutex_);
  const auto other = std::ranges::find(entries_, entry.key, &Entry::key);
  if (other != entries_.end()) entries_.erase(other);  // two requests have compiled it at the same time
  entries_.push_front(std::move(entry));
  evict();
}

// Grammars grow while they are used, so all are counted again. The most recent one stays, whatever its size.
void GrammarCache::evict() {
  size_t num_bytes = 0, num_kept = 0;
  for (const Entry& kept : entries_) {
    num_bytes += kept.key.size() + kept.grammar->num_bytes();
    if (num_kept > 0 && (num_bytes > kMaxBytes || num_kept >= kMaxGrammars)) break;
    ++num_kept;
  }
  entries_.resize(num_kept);
}

}  // namespace pagoda::grammar

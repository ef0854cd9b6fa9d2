// Encoding pipeline: added tokens are split off, the rest is normalised, split into words, and merged word by word.
#include "text/bpe/tokenizer.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "text/tokenizer_file.h"
#include "text/unicode/unicode.h"

namespace pagoda::text {

namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 30;

// The runs that cover [begin, end) of a text covered by `runs`, relative to begin.
std::vector<OriginRun> slice_runs(const std::vector<OriginRun>& runs, size_t begin, size_t end) {
  std::vector<OriginRun> slice;
  auto run = std::upper_bound(runs.begin(), runs.end(), begin,
                              [](size_t offset, const OriginRun& candidate) { return offset < candidate.end; });
  for (;; ++run) {
    add_run(std::min(run->end, end) - begin, run->from_template, slice);
    if (run->end >= end) return slice;
  }
}

}  // namespace

struct SubwordTokenizer::Encoders {
  BpeEncoder bpe;
  UnigramEncoder unigram;
  std::string prefixed;  // a part with a space before it
};

struct SubwordTokenizer::Tables {
  BpeModel model;
  SentencePieceRules sentencepiece;
  UnigramModel unigram;
  PreTokenizer pre_tokenizer;
  bool nfc = false;
  AddedTokens raw_tokens;            // matched in the text as given
  AddedTokens normalized_tokens;     // matched after normalisation
  std::vector<int32_t> special_ids;  // sorted
  std::vector<int32_t> start_ids, end_ids;

  void take(TokenizerFile file);
  // A text, the runs that cover it, and which added tokens are recognised only in the template's runs.
  struct Input {
    std::string_view text;
    const std::vector<OriginRun>& runs;
    TemplateTokens template_tokens;
    bool is_start = true;  // start of the input of encode()
  };
  Status encode(const Input& input, std::vector<int32_t>& ids) const;
  void encode_valid(const Input& input, std::vector<int32_t>& ids) const;
  void encode_part(const Input& part, Encoders& encoders, std::vector<int32_t>& ids) const;
  void encode_words(std::string_view text, bool is_start, Encoders& encoders) const;
};

void SubwordTokenizer::Tables::take(TokenizerFile file) {
  model = std::move(file.model);
  pre_tokenizer = std::move(file.pre_tokenizer);
  nfc = file.nfc;
  sentencepiece = file.sentencepiece;
  unigram = std::move(file.unigram);
  start_ids = std::move(file.start_ids);
  end_ids = std::move(file.end_ids);
  for (AddedToken& token : file.added_tokens) {
    if (token.special) special_ids.push_back(token.id);
    std::string spelling = token.content;
    if (token.normalized && nfc) {
      std::vector<OriginRun> runs;
      spelling.clear();
      append_nfc(token.content, {{token.content.size(), true}}, spelling, runs);
    }
    if (token.normalized && model.is_sentencepiece) {
      std::vector<OriginRun> runs;
      const std::string composed = std::exchange(spelling, {});
      append_spaced(composed, {{composed.size(), true}}, sentencepiece.prepends, spelling, runs);
    }
    // Control tokens are never matched in a text, even if they are tokens of the model.
    if (token.special && unigram.is_used()) unigram.tokens.insert(spaced_token(token.content), ByteTrie::kNone);
    (token.normalized ? normalized_tokens : raw_tokens).add(std::move(token), spelling);
  }
  std::sort(special_ids.begin(), special_ids.end());
}

void SubwordTokenizer::Tables::encode_words(std::string_view text, bool is_start, Encoders& encoders) const {
  if (!model.is_sentencepiece) {
    WordCutter cutter(pre_tokenizer, text);
    for (std::string_view word; cutter.next(word);) encoders.bpe.encode_word(word);
    return;
  }
  const bool is_prefixed = sentencepiece.prefix == SentencePieceRules::Prefix::always ||
                           (sentencepiece.prefix == SentencePieceRules::Prefix::first && is_start);
  if (is_prefixed && !text.empty() && text.front() != ' ') {
    encoders.prefixed.assign(1, ' ').append(text);
    text = encoders.prefixed;
  }
  while (!text.empty()) {
    const size_t end = sentencepiece.splits ? text.find(' ', 1) : text.size();
    const std::string_view word = text.substr(0, end);
    unigram.is_used() ? encoders.unigram.encode_word(word) : encoders.bpe.encode_word(word);
    text.remove_prefix(word.size());
  }
}

void SubwordTokenizer::Tables::encode_part(const Input& part, Encoders& encoders, std::vector<int32_t>& ids) const {
  std::string composed, spaced;
  std::vector<OriginRun> composed_runs, spaced_runs;
  std::string_view text = part.text;
  const std::vector<OriginRun>* current_runs = &part.runs;
  if (nfc && !is_certainly_nfc(text)) {
    append_nfc(text, part.runs, composed, composed_runs);
    text = composed;
    current_runs = &composed_runs;
  }
  if (model.is_sentencepiece) {
    append_spaced(text, *current_runs, sentencepiece.prepends, spaced, spaced_runs);
    text = spaced;
    current_runs = &spaced_runs;
  }
  if (normalized_tokens.is_empty()) return encode_words(text, part.is_start, encoders);
  std::vector<TextPart> parts;
  normalized_tokens.cut(text, *current_runs, part.template_tokens, parts);
  for (const TextPart& cut : parts) {
    if (cut.id == TextPart::kText) {
      encode_words(cut.text, part.is_start && cut.begin == 0, encoders);
    } else {
      ids.push_back(cut.id);
    }
  }
}

Status SubwordTokenizer::Tables::encode(const Input& input, std::vector<int32_t>& ids) const {
  const std::string_view text = input.text;
  if (text.size() >= kMaxTextBytes) {
    return make_error(StatusCode::invalid_argument,
                      concat("text of ", text.size(), " bytes, at most ", kMaxTextBytes - 1, " can be tokenized"));
  }
  if (const size_t offset = find_invalid_utf8(text); offset != std::string_view::npos) {
    return make_error(StatusCode::invalid_argument, concat("text is not valid UTF-8 at byte ", offset));
  }
  const size_t num_before = ids.size();
  try {
    encode_valid(input, ids);
  } catch (const std::bad_alloc&) {
    ids.resize(num_before);
    return make_error(StatusCode::out_of_memory, concat("no memory to tokenize ", text.size(), " bytes"));
  }
  return ok_status();
}

void SubwordTokenizer::Tables::encode_valid(const Input& input, std::vector<int32_t>& ids) const {
  std::vector<TextPart> parts;
  raw_tokens.cut(input.text, input.runs, input.template_tokens, parts);
  Encoders encoders{BpeEncoder(model, ids), UnigramEncoder(unigram, ids), {}};
  for (const TextPart& part : parts) {
    if (part.id == TextPart::kText) {
      const std::vector<OriginRun> runs = slice_runs(input.runs, part.begin, part.begin + part.text.size());
      encode_part({part.text, runs, input.template_tokens, part.begin == 0}, encoders, ids);
    } else {
      ids.push_back(part.id);
    }
  }
}

SubwordTokenizer::SubwordTokenizer() : tables_(std::make_unique<Tables>()) {}
SubwordTokenizer::~SubwordTokenizer() = default;

Result<std::shared_ptr<const SubwordTokenizer>> SubwordTokenizer::from_json(std::string_view tokenizer_json,
                                                                            const std::string& file_name) {
  try {
    PAGODA_ASSIGN_OR_RETURN(TokenizerFile file, read_tokenizer_file(tokenizer_json, file_name));
    std::shared_ptr<SubwordTokenizer> tokenizer(new SubwordTokenizer());
    tokenizer->tables_->take(std::move(file));
    return std::shared_ptr<const SubwordTokenizer>(std::move(tokenizer));
  } catch (const std::bad_alloc&) {
    return make_error(StatusCode::out_of_memory, file_name + ": no memory for the tokenizer");
  }
}

Status SubwordTokenizer::encode(std::string_view text, bool parse_special, std::vector<int32_t>& ids) const {
  const std::vector<OriginRun> runs{{text.size(), parse_special}};
  return tables_->encode({text, runs, TemplateTokens::special}, ids);
}

Status SubwordTokenizer::encode(std::span<const PromptSegment> segments, std::vector<int32_t>& ids) const {
  std::string text;
  std::vector<OriginRun> runs;
  for (const PromptSegment& segment : segments) {
    text += segment.text;
    add_run(text.size(), segment.from_template, runs);
  }
  return tables_->encode({text, runs, TemplateTokens::special_and_tags}, ids);
}

std::string_view SubwordTokenizer::token_bytes(int32_t id) const noexcept {
  return tables_->model.vocabulary.bytes(id);
}

bool SubwordTokenizer::is_special(int32_t id) const noexcept {
  return std::binary_search(tables_->special_ids.begin(), tables_->special_ids.end(), id);
}

const std::vector<int32_t>& SubwordTokenizer::start_ids() const noexcept { return tables_->start_ids; }
const std::vector<int32_t>& SubwordTokenizer::end_ids() const noexcept { return tables_->end_ids; }

SentencePieceRules::Strip SubwordTokenizer::strip() const noexcept { return tables_->sentencepiece.strip; }

bool SubwordTokenizer::has_token(int32_t id) const noexcept { return tables_->model.vocabulary.has(id); }

bool SubwordTokenizer::is_verbatim(int32_t id) const noexcept { return tables_->model.vocabulary.is_verbatim(id); }

int32_t SubwordTokenizer::find_token(std::string_view spelling) const noexcept {
  return tables_->model.vocabulary.find_spelling(spelling);
}

std::string SubwordTokenizer::token_spelling(int32_t id) const { return tables_->model.vocabulary.spelling(id); }

int32_t SubwordTokenizer::vocab_size() const noexcept { return tables_->model.vocabulary.size(); }

}  // namespace pagoda::text

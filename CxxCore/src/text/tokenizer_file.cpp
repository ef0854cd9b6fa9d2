// Reads tokenizer.json: vocabulary and merges straight from the text (a tree of half a million nodes would take longer
// than everything else), the rest through small trees.
#include "text/tokenizer_file.h"

#include <algorithm>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/quoted.h"
#include "text/tokenizer_parts.h"

namespace pagoda::text {

namespace {

constexpr size_t kMaxTreeBytes = 16 << 20;  // per value other than the vocabulary and the merges

class TokenizerFileReader {
 public:
  TokenizerFileReader(std::string_view json, const std::string& file_name)
      : json_(json), parts_(file_name), reader_(json) {}

  Status read(TokenizerFile& file);

 private:
  // Iterates over the members of the object at the reader's position; read_member(key) consumes the value.
  template <class F>
  Status read_object(io::JsonReader& reader, const char* path, F&& read_member);
  Status read_model(TokenizerFile& file);
  bool can_read_vocabulary() const;
  Status finish_model(const io::Json& top, TokenizerFile& file);
  Status read_vocabulary(io::JsonReader& reader, TokenizerFile& file);
  Status read_scored_tokens(io::JsonReader& reader, TokenizerFile& file);
  Status read_merges(io::JsonReader& reader, BpeModel& model);
  bool read_merge(io::JsonReader& reader);  // into left_, right_
  Status add_merge(BpeModel& model);
  Status read_tree(const char* path, const std::string& key, std::vector<io::JsonMember>& into);
  bool skip_value();

  Status bad(const std::string& what) const { return parts_.bad(what); }
  Status bad_json(const io::JsonReader& reader) const { return bad(reader.status().message); }

  std::string_view json_;
  TokenizerParts parts_;
  io::JsonReader reader_;
  bool has_model_ = false, has_vocabulary_ = false, has_merges_ = false;
  std::vector<io::JsonMember> members_;  // top level, without the model
  std::vector<io::JsonMember> options_;  // the model's, without vocabulary and merges
  // Vocabulary and merges that come before the options that decide how they are read.
  std::string_view late_vocabulary_, late_merges_;
  std::string left_, right_, spelling_;  // scratch
  int32_t merged_id_ = 0;                // id of the previous merge
};

template <class F>
Status TokenizerFileReader::read_object(io::JsonReader& reader, const char* path, F&& read_member) {
  if (!reader.take('{')) return bad(std::string(path) + " is missing or not an object");
  if (reader.take('}')) return ok_status();
  std::string key;
  for (bool more = true; more;) {
    if (!reader.read_string(key)) return bad_json(reader);
    if (!reader.take(':')) {
      reader.fail("expected ':'");
      return bad_json(reader);
    }
    PAGODA_RETURN_IF_ERROR(read_member(key));
    if (!reader.read_separator('}', more)) return bad_json(reader);
  }
  return ok_status();
}

// Skips one value with only a rough check: parse_json validates the skipped text later.
bool TokenizerFileReader::skip_value() {
  size_t depth = 0;
  io::JsonNumber number;
  do {
    const char c = reader_.peek();
    if (c == '{' || c == '[') {
      ++depth;
      reader_.take(c);
    } else if (depth > 0 && (c == '}' || c == ']')) {
      --depth;
      reader_.take(c);
    } else if (depth > 0 && (c == ',' || c == ':')) {
      reader_.take(c);
    } else if (c == '"') {
      if (!reader_.read_string(spelling_)) return false;
    } else if (!reader_.take_word("true") && !reader_.take_word("false") && !reader_.take_word("null")) {
      if (!reader_.read_number(number)) return false;
    }
  } while (depth > 0);
  return true;
}

Status TokenizerFileReader::read_tree(const char* path, const std::string& key, std::vector<io::JsonMember>& into) {
  const size_t begin = reader_.offset();
  if (!skip_value()) return bad_json(reader_);
  const std::string_view text = json_.substr(begin, reader_.offset() - begin);
  if (text.size() > kMaxTreeBytes) {
    return parts_.unsupported(concat(path, io::quoted(key), " is ", text.size(), " bytes long"));
  }
  Result<io::Json> tree = io::parse_json(text);
  if (!tree.is_ok()) return bad(path + io::quoted(key) + ": " + tree.status.message);
  for (const io::JsonMember& member : into) {
    if (member.first == key) return bad(path + io::quoted(key) + " occurs twice");
  }
  into.emplace_back(key, std::move(*tree));
  return ok_status();
}

// Whether the members read so far show that tokens are spelled in bytes.
bool TokenizerFileReader::can_read_vocabulary() const {
  for (const auto& [key, value] : members_)
    if (key == "pre_tokenizer") return value.is_object() && !has_sentencepiece_cutter(&value, false);
  return false;
}

Status TokenizerFileReader::read_vocabulary(io::JsonReader& reader, TokenizerFile& file) {
  return read_object(reader, "model.vocab", [&](const std::string& spelling) -> Status {
    io::JsonNumber id;
    if (!reader.read_number(id)) return bad_json(reader);
    if (!id.is_integer) return bad("model.vocab: the id of " + io::quoted(spelling) + " is not an integer");
    const Status added = file.model.vocabulary.add(spelling, id.integer);
    return added.is_ok() ? added : bad("model.vocab: " + added.message);
  });
}

// The vocabulary of a Unigram model: a list of spellings and scores.
Status TokenizerFileReader::read_scored_tokens(io::JsonReader& reader, TokenizerFile& file) {
  if (!reader.take('[')) return bad("model.vocab is not an array");
  UnigramModel& unigram = file.unigram;
  io::JsonNumber score;
  for (bool more = !reader.take(']'); more;) {
    const bool is_read = (reader.take('[') || reader.fail("expected '['")) && reader.read_string(spelling_) &&
                         (reader.take(',') || reader.fail("expected ','")) && reader.read_number(score) &&
                         (reader.take(']') || reader.fail("a token has more than a score"));
    if (!is_read) return bad_json(reader);
    const auto id = static_cast<int32_t>(unigram.scores.size());
    const Status added = file.model.vocabulary.add(spelling_, id);
    if (!added.is_ok()) return bad("model.vocab: " + added.message);
    if (!spelling_.empty()) unigram.tokens.insert(spaced_token(spelling_), id);
    unigram.min_score = id == 0 ? score.real : std::min(unigram.min_score, score.real);
    unigram.scores.push_back(score.real);
    if (!reader.read_separator(']', more)) return bad_json(reader);
  }
  if (unigram.scores.empty()) return bad("model.vocab is empty");
  return ok_status();
}

bool TokenizerFileReader::read_merge(io::JsonReader& reader) {
  if (reader.peek() == '[') {
    return reader.take('[') && reader.read_string(left_) && (reader.take(',') || reader.fail("expected ','")) &&
           reader.read_string(right_) && (reader.take(']') || reader.fail("a merge has more than two parts"));
  }
  if (!reader.read_string(left_)) return false;
  const size_t space = left_.find(' ');
  if (space == std::string::npos || left_.find(' ', space + 1) != std::string::npos) {
    return reader.fail("a merge is not two parts with one space between them");
  }
  right_.assign(left_, space + 1);
  left_.resize(space);
  return true;
}

Status TokenizerFileReader::add_merge(BpeModel& model) {
  const size_t rank = model.merges.size();
  const auto bad_merge = [&](const std::string& what) { return bad(concat("model.merges[", rank, "]: ", what)); };
  if (rank == MergeTable::kMaxMerges) return bad_merge(concat("more merges than ", rank));
  const BpeVocabulary& vocabulary = model.vocabulary;
  const int32_t left = vocabulary.find_spelling(left_), right = vocabulary.find_spelling(right_);
  if (left == BpeVocabulary::kNone) return bad_merge(io::quoted(left_) + " is not in model.vocab");
  if (right == BpeVocabulary::kNone) return bad_merge(io::quoted(right_) + " is not in model.vocab");
  ++merged_id_;  // ids mostly follow the merges: a guess that saves one lookup in three
  if (!vocabulary.is_join(merged_id_, left, right)) {
    spelling_.assign(left_).append(right_);
    merged_id_ = vocabulary.find_spelling(spelling_);
    if (merged_id_ == BpeVocabulary::kNone) return bad_merge(io::quoted(spelling_) + " is not in model.vocab");
  }
  model.merges.add(left, right, merged_id_);
  return ok_status();
}

Status TokenizerFileReader::read_merges(io::JsonReader& reader, BpeModel& model) {
  if (!reader.take('[')) return bad("model.merges is not an array");
  for (bool more = !reader.take(']'); more;) {
    if (!read_merge(reader)) return bad_json(reader);
    PAGODA_RETURN_IF_ERROR(add_merge(model));
    if (!reader.read_separator(']', more)) return bad_json(reader);
  }
  return ok_status();
}

Status TokenizerFileReader::read_model(TokenizerFile& file) {
  const auto put_off = [&](std::string_view& value) -> Status {
    const size_t begin = reader_.offset();
    if (!skip_value()) return bad_json(reader_);
    value = json_.substr(begin, reader_.offset() - begin);
    return ok_status();
  };
  return read_object(reader_, "model", [&](const std::string& key) -> Status {
    if (key == "vocab") {
      if (std::exchange(has_vocabulary_, true)) return bad("model.vocab occurs twice");
      return reader_.peek() == '{' && can_read_vocabulary() ? read_vocabulary(reader_, file)
                                                            : put_off(late_vocabulary_);
    }
    if (key != "merges") return read_tree("model.", key, options_);
    if (std::exchange(has_merges_, true)) return bad("model.merges occurs twice");
    const bool is_ready = has_vocabulary_ && late_vocabulary_.empty();
    return is_ready ? read_merges(reader_, file.model) : put_off(late_merges_);
  });
}

// Reads the parts that had to wait for the rest of the file, and checks the result.
Status TokenizerFileReader::finish_model(const io::Json& top, TokenizerFile& file) {
  const io::Json options = io::Json::make_object(std::move(options_));
  const io::Json *type = options.find("type"), *fallback = options.find("byte_fallback");
  const bool is_unigram = type != nullptr && type->is_string() && type->as_string() == "Unigram";
  const bool has_bytes = fallback != nullptr && fallback->as_bool();
  const bool is_sentencepiece = is_unigram || has_sentencepiece_cutter(top.find("pre_tokenizer"), has_bytes);
  file.model.is_sentencepiece = is_sentencepiece;
  if (is_sentencepiece) file.model.vocabulary.use_sentencepiece(has_bytes);
  if (!late_vocabulary_.empty()) {
    io::JsonReader vocabulary(late_vocabulary_);
    PAGODA_RETURN_IF_ERROR(is_unigram ? read_scored_tokens(vocabulary, file) : read_vocabulary(vocabulary, file));
  }
  PAGODA_RETURN_IF_ERROR(is_unigram ? parts_.check_unigram(options, file) : parts_.check_model(options, file.model));
  if (!has_vocabulary_) return bad("model.vocab is missing");
  if (is_unigram) return ok_status();
  if (!has_merges_) return bad("model.merges is missing");
  if (!late_merges_.empty()) {
    io::JsonReader merges(late_merges_);
    PAGODA_RETURN_IF_ERROR(read_merges(merges, file.model));
  }
  return ok_status();
}

Status TokenizerFileReader::read(TokenizerFile& file) {
  PAGODA_RETURN_IF_ERROR(read_object(reader_, "the top level", [&](const std::string& key) -> Status {
    if (key != "model") return read_tree("", key, members_);
    if (std::exchange(has_model_, true)) return bad("model occurs twice");
    return read_model(file);
  }));
  if (!reader_.at_end()) return bad("bytes after the end of the object");
  if (!has_model_) return bad("model is missing");
  const io::Json top = io::Json::make_object(std::move(members_));
  PAGODA_RETURN_IF_ERROR(finish_model(top, file));
  if (file.model.is_sentencepiece) {
    PAGODA_ASSIGN_OR_RETURN(SentencePieceRules rules, read_sentencepiece_rules(top, parts_.file_name()));
    file.sentencepiece = rules;
    file.nfc = rules.nfc;
  } else {
    PAGODA_RETURN_IF_ERROR(parts_.read_normalizer(top.find("normalizer"), file));
    const io::Json* pre_tokenizer = top.find("pre_tokenizer");
    if (pre_tokenizer == nullptr || !pre_tokenizer->is_object())
      return bad("pre_tokenizer is missing or not an object");
    PAGODA_ASSIGN_OR_RETURN(file.pre_tokenizer, PreTokenizer::from_json(*pre_tokenizer, parts_.file_name()));
  }
  PAGODA_RETURN_IF_ERROR(parts_.read_added_tokens(top.find("added_tokens"), file));
  PAGODA_RETURN_IF_ERROR(parts_.read_start_tokens(top.find("post_processor"), file));
  if (!file.model.merges.build()) return bad("model.merges: too many pairs have the same hash");
  return ok_status();
}

}  // namespace

Result<TokenizerFile> read_tokenizer_file(std::string_view json, const std::string& file_name) {
  TokenizerFile file;
  PAGODA_RETURN_IF_ERROR(TokenizerFileReader(json, file_name).read(file));
  return file;
}

}  // namespace pagoda::text

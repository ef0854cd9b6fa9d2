// TokenizerParts: the options of the model, the normalizer, added tokens, and the tokens around a text.
#include "text/tokenizer_parts.h"

#include "base/concat.h"
#include "base/quoted.h"

namespace pagoda::text {

constexpr size_t kMaxStartTokens = 16;

Status TokenizerParts::check_unigram(const io::Json& options, TokenizerFile& file) const {
  UnigramModel& unigram = file.unigram;
  const io::Json* unknown = options.find("unk_id");
  if (unknown == nullptr || !unknown->is_integer() || unknown->as_integer() < 0 ||
      unknown->as_integer() >= static_cast<int64_t>(unigram.scores.size()))
    return bad("model.unk_id is missing or no token");
  unigram.unknown_id = static_cast<int32_t>(unknown->as_integer());
  unigram.has_byte_ids = true;
  for (int byte = 0; byte < 256; ++byte) {
    unigram.byte_ids[byte] = file.model.vocabulary.byte_id(static_cast<unsigned char>(byte));
    unigram.has_byte_ids = unigram.has_byte_ids && unigram.byte_ids[byte] != BpeVocabulary::kNone;
  }
  return ok_status();
}

Status TokenizerParts::check_model(const io::Json& options, BpeModel& model) const {
  for (const auto& [key, value] : options.members()) {
    const bool is_true = value.is_bool() && value.as_bool();
    const bool is_text = value.is_string() && !value.as_string().empty();
    if (key == "type" && !(value.is_string() && value.as_string() == "BPE")) {
      return unsupported("model.type is " + (value.is_string() ? io::quoted(value.as_string()) : "no string") +
                         "; only BPE and Unigram are read");
    }
    if (key == "byte_fallback" && is_true && !model.is_sentencepiece) return unsupported("model.byte_fallback is true");
    if (key == "dropout" && value.is_number() && value.as_double() != 0) return unsupported("model.dropout is not 0");
    if (key == "continuing_subword_prefix" && is_text) return unsupported("model.continuing_subword_prefix is set");
    if (key == "end_of_word_suffix" && is_text) return unsupported("model.end_of_word_suffix is set");
    if (key == "ignore_merges") model.ignore_merges = is_true;
    if (key == "fuse_unk") model.fuse_unknown = is_true;
    if (key == "unk_token" && is_text) {
      model.unknown_id = model.vocabulary.find_spelling(value.as_string());
      if (model.unknown_id == BpeVocabulary::kNone) {
        return bad("model.unk_token: " + io::quoted(value.as_string()) + " is not in model.vocab");
      }
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const int32_t id = model.is_sentencepiece ? model.vocabulary.byte_id(static_cast<unsigned char>(byte))
                                              : model.vocabulary.find_bytes({&c, 1});
    model.byte_ids[byte] = id != BpeVocabulary::kNone || model.is_sentencepiece ? id : model.unknown_id;
  }
  return ok_status();
}

Status TokenizerParts::read_normalizer(const io::Json* json, TokenizerFile& file) const {
  if (json == nullptr || json->is_null()) return ok_status();
  const io::Json* type = json->find("type");
  const std::string name = type != nullptr && type->is_string() ? type->as_string() : "";
  if (name == "Sequence") {
    const io::Json* parts = json->find("normalizers");
    if (parts == nullptr || !parts->is_array()) return bad("normalizer.normalizers is missing or not an array");
    // One level only: nested sequences do not occur in practice.
    for (const io::Json& part : parts->items()) {
      const io::Json* inner = part.find("type");
      if (inner == nullptr || !inner->is_string() || inner->as_string() != "NFC") {
        return unsupported("normalizer: a Sequence with other parts than NFC");
      }
      file.nfc = true;
    }
    return ok_status();
  }
  if (name != "NFC") return unsupported("normalizer: type " + io::quoted(name) + " (known: NFC, none)");
  file.nfc = true;
  return ok_status();
}

Status TokenizerParts::read_added_tokens(const io::Json* json, TokenizerFile& file) const {
  if (json == nullptr || json->is_null()) return ok_status();
  if (!json->is_array()) return bad("added_tokens is not an array");
  for (const io::Json& item : json->items()) {
    const std::string where = concat("added_tokens[", file.added_tokens.size(), "]");
    const io::Json* id = item.find("id");
    const io::Json* content = item.find("content");
    if (id == nullptr || !id->is_integer()) return bad(where + ".id is missing or not an integer");
    if (content == nullptr || !content->is_string()) return bad(where + ".content is missing or not a string");
    if (content->as_string().empty()) return bad(where + ".content is empty");
    const auto flag = [&](const char* key) {
      const io::Json* value = item.find(key);
      return value != nullptr && value->is_bool() && value->as_bool();
    };
    const Status added = file.model.vocabulary.add_verbatim(content->as_string(), id->as_integer());
    if (!added.is_ok()) return bad(where + ": " + added.message);
    file.added_tokens.push_back({static_cast<int32_t>(id->as_integer()), content->as_string(), flag("special"),
                                 flag("normalized"), flag("lstrip"), flag("rstrip"), flag("single_word")});
  }
  return ok_status();
}

// The control tokens that a TemplateProcessing (alone or in a Sequence) puts before and after the text in `single`.
Status TokenizerParts::read_start_tokens(const io::Json* post_processor, TokenizerFile& file) const {
  if (post_processor == nullptr || !post_processor->is_object()) return ok_status();
  const io::Json* parts = post_processor->find("processors");
  if (parts != nullptr && parts->is_array()) {
    for (const io::Json& part : parts->items())
      if (part.find("processors") == nullptr) PAGODA_RETURN_IF_ERROR(read_start_tokens(&part, file));
    return ok_status();
  }
  const io::Json* type = post_processor->find("type");
  const io::Json* single = post_processor->find("single");
  const io::Json* known = post_processor->find("special_tokens");
  if (type == nullptr || !type->is_string() || type->as_string() != "TemplateProcessing") return ok_status();
  if (single == nullptr || !single->is_array()) return bad("post_processor.single is missing or not an array");
  std::vector<int32_t>* added = &file.start_ids;
  for (const io::Json& item : single->items()) {
    const io::Json* token = item.find("SpecialToken");
    if (token == nullptr) {  // the text itself
      added = &file.end_ids;
      continue;
    }
    const io::Json* name = token->find("id");
    const io::Json* entry = name != nullptr && name->is_string() && known ? known->find(name->as_string()) : nullptr;
    const io::Json* ids = entry != nullptr ? entry->find("ids") : nullptr;
    if (ids == nullptr || !ids->is_array()) return bad("post_processor: a token of `single` is not in special_tokens");
    for (const io::Json& id : ids->items()) {
      if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= file.model.vocabulary.size() ||
          !file.model.vocabulary.has(static_cast<int32_t>(id.as_integer())))
        return bad("post_processor: special_tokens." + io::quoted(name->as_string()) + " has an id that is no token");
      if (added->size() == kMaxStartTokens) return bad("post_processor adds too many tokens to a text");
      added->push_back(static_cast<int32_t>(id.as_integer()));
    }
  }
  return ok_status();
}

}  // namespace pagoda::text

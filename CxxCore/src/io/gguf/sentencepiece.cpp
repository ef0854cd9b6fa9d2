// Metadata of a GGUF file with SentencePiece's tokens and scores as tokenizer.json.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/json_writer.h"
#include "base/quoted.h"
#include "io/gguf/config.h"

namespace pagoda::io {
namespace {

enum TokenType : int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct Vocabulary {
  std::vector<std::string_view> tokens;
  std::vector<float> scores;
  std::vector<int64_t> types;
};

Result<Vocabulary> read_vocabulary(const Gguf& gguf) {
  const auto bad = [&](const std::string& what) {
    return make_error(StatusCode::bad_file, gguf.file()->name() + ": " + what);
  };
  const auto tokens = gguf.strings("tokenizer.ggml.tokens");
  const auto scores = gguf.floats("tokenizer.ggml.scores");
  const auto types = gguf.integers("tokenizer.ggml.token_type");
  if (!tokens) return bad("tokenizer.ggml.tokens is not a list of strings");
  if (!scores) return bad("tokenizer.ggml.scores is missing or not a list of floats");
  if (!types) return bad("tokenizer.ggml.token_type is missing or not a list of integers");
  if (scores->size() != tokens->size() || types->size() != tokens->size())
    return bad(
        concat("tokenizer.ggml.scores and token_type do not have an entry for each of ", tokens->size(), " tokens"));
  return Vocabulary{*tokens, *scores, *types};
}

bool is_boundary(std::string_view text, size_t at) noexcept {
  return (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

// Every way to form a token from two others, higher scores first: SentencePiece merges by score.
std::string merges_json(const Vocabulary& vocabulary) {
  std::map<std::string_view, size_t> ids;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id)
    if (vocabulary.types[id] == kNormal || vocabulary.types[id] == kUserDefined) ids.emplace(vocabulary.tokens[id], id);
  struct Merge {
    float score;
    size_t left, right;
  };
  std::vector<Merge> merges;
  for (const auto& [token, id] : ids) {
    for (size_t at = 1; at < token.size(); ++at) {
      if (!is_boundary(token, at)) continue;
      const auto left = ids.find(token.substr(0, at)), right = ids.find(token.substr(at));
      if (left != ids.end() && right != ids.end())
        merges.push_back({vocabulary.scores[id], left->second, right->second});
    }
  }
  std::ranges::sort(merges, [](const Merge& a, const Merge& b) {
    return std::tuple(-a.score, a.left, a.right) < std::tuple(-b.score, b.left, b.right);
  });
  std::string text = "[";
  for (const Merge& merge : merges) {
    text += text.size() > 1 ? ",[" : "[";
    append_json_string(vocabulary.tokens[merge.left], text);
    text += ',';
    append_json_string(vocabulary.tokens[merge.right], text);
    text += ']';
  }
  return text + "]";
}

std::string added_json(const Vocabulary& vocabulary) {
  std::string text = "[";
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const int64_t type = vocabulary.types[id];
    if (type != kControl && type != kUnknown && type != kUserDefined) continue;
    text += text.size() > 1 ? ",{\"id\":" : "{\"id\":";
    text += concat(id, ",\"content\":");
    append_json_string(vocabulary.tokens[id], text);
    text += type == kUserDefined ? ",\"special\":false}" : ",\"special\":true}";
  }
  return text + "]";
}

// The tokens by id, each followed by its score for Unigram; unused ids stay in the list.
std::string vocabulary_json(const Vocabulary& vocabulary, bool is_unigram) {
  std::string text = is_unigram ? "[" : "{";
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (text.size() > 1) text += ',';
    if (is_unigram) text += '[';
    append_json_string(vocabulary.tokens[id], text);
    text += is_unigram ? "," : concat(":", id);
    if (!is_unigram) continue;
    append_json_number(vocabulary.scores[id], text);
    text += ']';
  }
  return text + (is_unigram ? "]" : "}");
}

std::string start_json(const Gguf& gguf, size_t num_tokens) {
  const auto id = gguf.integer("tokenizer.ggml.bos_token_id");
  const bool is_wanted = gguf.boolean("tokenizer.ggml.add_bos_token").value_or(true);
  if (!is_wanted || !id || *id < 0 || static_cast<uint64_t>(*id) >= num_tokens) return "null";
  return concat(R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"bos"}},{"Sequence":{"id":"A"}}],)"
                R"("special_tokens":{"bos":{"ids":[)",
                *id, "]}}}");
}

}  // namespace

Result<std::string> gguf_sentencepiece_json(const Gguf& gguf) {
  PAGODA_ASSIGN_OR_RETURN(const auto vocabulary, read_vocabulary(gguf));
  const bool is_unigram = gguf.string("tokenizer.ggml.model").value_or("") == "t5";
  if (gguf.has("tokenizer.ggml.precompiled_charsmap"))
    return make_error(
        StatusCode::unsupported,
        gguf.file()->name() + ": tokenizer.ggml.precompiled_charsmap, a table of characters, is not read");
  const auto unknown = std::ranges::find(vocabulary.types, int64_t{kUnknown}) - vocabulary.types.begin();
  const bool has_unknown = static_cast<size_t>(unknown) < vocabulary.types.size();
  const bool has_bytes = std::ranges::find(vocabulary.types, int64_t{kByte}) != vocabulary.types.end();
  const bool has_prefix = gguf.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  const std::string fallback = has_bytes ? "true" : "false";
  std::string text = "{\"added_tokens\":" + added_json(vocabulary) + ",\"normalizer\":";
  constexpr std::string_view kReplace = R"({"type":"Replace","pattern":{"String":" "},"content":"▁"})";
  constexpr std::string_view kPrepend = R"({"type":"Prepend","prepend":"▁"})";
  text += R"({"type":"Sequence","normalizers":[)" + (has_prefix ? std::string(kPrepend) + "," : std::string()) +
          std::string(kReplace) + "]}";
  text += R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"never","split":)";
  text += is_unigram ? "true}" : "false}";
  text += ",\"post_processor\":" + start_json(gguf, vocabulary.tokens.size());
  text += R"(,"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
          R"({"type":"ByteFallback"},{"type":"Fuse"})";
  text += has_prefix ? R"(,{"type":"Strip","content":" ","start":1,"stop":0}]})" : "]}";
  if (is_unigram) {
    if (!has_unknown) return make_error(StatusCode::bad_file, gguf.file()->name() + ": no token is the unknown one");
    return concat(text, R"(,"model":{"type":"Unigram","unk_id":)", unknown, ",\"byte_fallback\":", fallback,
                  ",\"vocab\":", vocabulary_json(vocabulary, true), "}}");
  }
  text += R"(,"model":{"type":"BPE","fuse_unk":true,"byte_fallback":)" + fallback;
  if (has_unknown) {
    text += ",\"unk_token\":";
    append_json_string(vocabulary.tokens[unknown], text);
  }
  return text + ",\"vocab\":" + vocabulary_json(vocabulary, false) + ",\"merges\":" + merges_json(vocabulary) + "}}";
}

}  // namespace pagoda::io

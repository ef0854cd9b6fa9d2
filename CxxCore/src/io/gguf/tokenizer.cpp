// Metadata of a GGUF file as tokenizer.json and tokenizer_config.json.
#include <algorithm>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/quoted.h"
#include "io/gguf/config.h"

namespace pagoda::io {
namespace {

enum TokenType : int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

// The settings behind a pre-tokenizer's name, as members of tokenizer.json.
struct PreTokenizer {
  std::string_view name, normalizer, cutter;
  bool ignore_merges;
  bool has_start = false;  // texts begin with the bos token by default
};

#define PAGODA_SPLIT(regex)                                                           \
  R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":")" regex \
  R"("},"behavior":"Isolated","invert":false},)"                                      \
  R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}]})"
#define PAGODA_CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|)"
#define PAGODA_SPACES R"(|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)"

constexpr std::string_view kNfc = R"({"type":"NFC"})", kNone = "null";
constexpr std::string_view kQwen2 = PAGODA_SPLIT(
    PAGODA_CONTRACTIONS R"([^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*)" PAGODA_SPACES);
constexpr std::string_view kQwen35 =
    PAGODA_SPLIT(PAGODA_CONTRACTIONS
                 R"([^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*)" PAGODA_SPACES);
constexpr std::string_view kLlama3 = PAGODA_SPLIT(
    PAGODA_CONTRACTIONS R"([^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*)" PAGODA_SPACES);
constexpr std::string_view kKimi =
    PAGODA_SPLIT(R"([\\p{Han}]+|)"
                 R"([^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*)"
                 R"([\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
                 R"([^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+)"
                 R"([\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
                 R"(\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*)" PAGODA_SPACES);
#undef PAGODA_SPLIT
#undef PAGODA_CONTRACTIONS
#undef PAGODA_SPACES
#define PAGODA_STAGE(pattern) \
  R"({"type":"Split","pattern":{"Regex":")" pattern R"("},"behavior":"Isolated","invert":false},)"
constexpr std::string_view kDeepSeek = R"({"type":"Sequence","pretokenizers":[)" PAGODA_STAGE("deepseek-llm: line end")
    PAGODA_STAGE("deepseek-llm: letters with a case") PAGODA_STAGE("deepseek-llm: punctuation") PAGODA_STAGE(
        "deepseek-llm: spaces at the end") PAGODA_STAGE("deepseek-llm: East Asian characters")
        PAGODA_STAGE(
            R"(\\p{N}+)") R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}]})";
#undef PAGODA_STAGE
constexpr std::string_view kGpt2 = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";
constexpr std::string_view kSmolLm =
    R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},)"
    R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true}]})";

constexpr PreTokenizer kPreTokenizers[] = {
    {"qwen35", kNfc, kQwen35, false},          {"qwen2", kNfc, kQwen2, false},
    {"deepseek-r1-qwen", kNfc, kQwen2, false}, {"llama-bpe", kNone, kLlama3, true, true},
    {"llama3", kNone, kLlama3, true, true},    {"llama-v3", kNone, kLlama3, true, true},
    {"smollm", kNone, kSmolLm, false},         {"gpt-2", kNone, kGpt2, false},
    {"glm4", kNone, kLlama3, false},           {"chatglm-bpe", kNone, kLlama3, false},
    {"kimi-k2", kNone, kKimi, false},          {"deepseek-llm", kNone, kDeepSeek, false},
};

Result<const PreTokenizer*> find_pre_tokenizer(const Gguf& gguf) {
  const auto error = [&](const std::string& what) {
    return make_error(StatusCode::unsupported, gguf.file()->name() + ": " + what);
  };
  const std::string_view model = gguf.string("tokenizer.ggml.model").value_or("");
  if (model != "gpt2")
    return error("tokenizer model " + io::quoted(model) +
                 " is not read, only gpt2 (byte-level BPE), llama and t5 (SentencePiece)");
  const auto name = gguf.string("tokenizer.ggml.pre");
  if (!name) return error("tokenizer.ggml.pre, which says how text is cut into words, is missing");
  for (const PreTokenizer& known : kPreTokenizers)
    if (known.name == *name) return &known;
  return error("pre-tokenizer " + io::quoted(*name) + " is not known");
}

void append_added_token(std::string_view token, size_t id, bool is_special, std::string& out) {
  out += out.ends_with('[') ? "{\"id\":" : ",{\"id\":";
  out += concat(id, ",\"content\":");
  append_json_string(token, out);
  out += is_special ? ",\"special\":true}" : ",\"special\":false}";
}

// The post_processor of tokenizer.json: states whether a text starts with the bos token.
std::string start_processor(const Gguf& gguf, const PreTokenizer& pre_tokenizer, const std::vector<int64_t>& types) {
  const auto id = gguf.integer("tokenizer.ggml.bos_token_id");
  const bool is_wanted = gguf.boolean("tokenizer.ggml.add_bos_token").value_or(pre_tokenizer.has_start);
  if (!is_wanted || !id || *id < 0 || static_cast<uint64_t>(*id) >= types.size()) return "null";
  if (types[*id] == kUnused) return "null";
  return concat(R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"bos"}},{"Sequence":{"id":"A"}}],)"
                R"("special_tokens":{"bos":{"ids":[)",
                *id, "]}}}");
}

}  // namespace

bool has_gguf_tokenizer(const Gguf& gguf) noexcept {
  return gguf.has("tokenizer.ggml.tokens") && gguf.string("tokenizer.ggml.model").value_or("no_vocab") != "no_vocab";
}

Result<std::string> gguf_tokenizer_json(const Gguf& gguf) {
  const std::string_view model = gguf.string("tokenizer.ggml.model").value_or("");
  if (model == "llama" || model == "t5") return gguf_sentencepiece_json(gguf);
  PAGODA_ASSIGN_OR_RETURN(const auto found, find_pre_tokenizer(gguf));
  const PreTokenizer& pre_tokenizer = *found;
  const auto bad = [&](const std::string& what) {
    return make_error(StatusCode::bad_file, gguf.file()->name() + ": " + what);
  };
  const auto tokens = gguf.strings("tokenizer.ggml.tokens"), merges = gguf.strings("tokenizer.ggml.merges");
  if (!tokens) return bad("tokenizer.ggml.tokens is not a list of strings");
  if (!merges) return bad("tokenizer.ggml.merges is missing or not a list of strings");
  auto types = gguf.integers("tokenizer.ggml.token_type");
  if (!types && gguf.has("tokenizer.ggml.token_type"))
    return bad("tokenizer.ggml.token_type is not a list of integers");
  if (!types) types.emplace(tokens->size(), kNormal);
  if (types->size() != tokens->size())
    return bad(concat("tokenizer.ggml.token_type has ", types->size(), " entries for ", tokens->size(), " tokens"));

  std::string added = "[", vocabulary = "{";
  for (size_t id = 0; id < tokens->size(); ++id) {
    const int64_t type = (*types)[id];
    if (type == kControl || type == kUnknown || type == kUserDefined) {
      append_added_token((*tokens)[id], id, type != kUserDefined, added);
    } else if (type == kNormal || type == kByte) {
      if (vocabulary.size() > 1) vocabulary += ',';
      append_json_string((*tokens)[id], vocabulary);
      vocabulary += concat(":", id);
    } else if (type != kUnused) {
      return bad(concat("token ", id, " is of unknown type ", type));
    }
  }
  std::string text = "{\"added_tokens\":" + added + "],\"normalizer\":" + std::string(pre_tokenizer.normalizer) +
                     ",\"pre_tokenizer\":" + std::string(pre_tokenizer.cutter) +
                     ",\"post_processor\":" + start_processor(gguf, pre_tokenizer, *types) +
                     ",\"model\":{\"type\":\"BPE\"," + (pre_tokenizer.ignore_merges ? "\"ignore_merges\":true," : "") +
                     "\"vocab\":" + vocabulary + "},\"merges\":[";
  for (const std::string_view merge : *merges) {
    if (text.back() != '[') text += ',';
    append_json_string(merge, text);
  }
  return text + "]}}";
}

Result<std::string> gguf_tokenizer_config_json(const Gguf& gguf) {
  std::vector<JsonMember> members;
  const auto tokens = gguf.strings("tokenizer.ggml.tokens");
  constexpr std::pair<const char*, const char*> kTokens[] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                                                             {"eos_token", "tokenizer.ggml.eos_token_id"},
                                                             {"pad_token", "tokenizer.ggml.padding_token_id"},
                                                             {"unk_token", "tokenizer.ggml.unknown_token_id"}};
  for (const auto& [name, key] : kTokens) {
    const auto id = gguf.integer(key);
    if (!id || !tokens) continue;
    if (*id < 0 || static_cast<uint64_t>(*id) >= tokens->size())
      return make_error(StatusCode::bad_file, concat(gguf.file()->name(), ": ", key, " ", *id, " is no token"));
    members.emplace_back(name, Json::make_string(std::string((*tokens)[*id])));
  }
  if (const auto chat = gguf.string("tokenizer.chat_template"))
    members.emplace_back("chat_template", Json::make_string(std::string(*chat)));
  std::string text;
  append_json(Json::make_object(std::move(members)), text);
  return text;
}

}  // namespace pagoda::io

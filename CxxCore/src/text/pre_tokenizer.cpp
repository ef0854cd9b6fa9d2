// Reads `pre_tokenizer` of tokenizer.json and recognises the pattern of each part.
#include "text/pre_tokenizer.h"

#include <optional>
#include <string>

#include "base/concat.h"
#include "base/quoted.h"

namespace pagoda::text {

namespace {

struct KnownPattern {
  std::string_view regex;
  WordPattern pattern;
};

constexpr KnownPattern kKnownPatterns[] = {
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordPattern::qwen2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordPattern::qwen3_5},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordPattern::llama3},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", WordPattern::gpt2},
    {R"(\p{N})", WordPattern::number},
    {R"(\p{N}{1,3})", WordPattern::number_triple},
    {R"(\p{N}+)", WordPattern::number_run},
    {R"(\d)", WordPattern::decimal},
    {R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordPattern::kimi},
    // These patterns are given by name in GGUF files, because their lists of characters are long.
    {"deepseek-llm: line end", WordPattern::line_end},
    {"deepseek-llm: letters with a case", WordPattern::cased},
    {"deepseek-llm: punctuation", WordPattern::punctuation},
    {"deepseek-llm: spaces at the end", WordPattern::last_spaces},
    {"deepseek-llm: East Asian characters", WordPattern::east_asian},
};

// Whether the matches of a pattern together cover every character of a text.
bool is_whole(WordPattern pattern) noexcept { return pattern <= WordPattern::gpt2 || pattern == WordPattern::kimi; }

Status unsupported(const std::string& file_name, const std::string& what) {
  return make_error(StatusCode::unsupported, file_name + ": pre_tokenizer: " + what);
}

std::string_view string_of(const io::Json& json, std::string_view key) {
  const io::Json* value = json.find(key);
  return value != nullptr && value->is_string() ? std::string_view(value->as_string()) : std::string_view();
}

bool bool_of(const io::Json& json, std::string_view key, bool fallback) {
  const io::Json* value = json.find(key);
  return value != nullptr && value->is_bool() ? value->as_bool() : fallback;
}

}  // namespace

Status PreTokenizer::add_stage(WordPattern pattern, const std::string& file_name) {
  if (stages_.size() == kMaxStages) return unsupported(file_name, concat("more than ", kMaxStages, " cutting stages"));
  stages_.push_back(pattern);
  return ok_status();
}

Status PreTokenizer::add_split(const io::Json& json, const std::string& file_name) {
  const std::string_view behavior = string_of(json, "behavior");
  const bool invert = bool_of(json, "invert", false);
  // The patterns below match every character of a text, so keeping only the matches equals splitting at them; for the
  // number patterns it does not, and no known file uses that.
  if (!(behavior == "Isolated" && !invert) && !(behavior == "Removed" && invert)) {
    return unsupported(file_name, "Split with behavior " + io::quoted(behavior) + (invert ? ", inverted" : ""));
  }
  const io::Json* pattern = json.find("pattern");
  const std::string_view regex = pattern == nullptr ? std::string_view() : string_of(*pattern, "Regex");
  for (const KnownPattern& known : kKnownPatterns) {
    if (known.regex != regex) continue;
    if (invert && !is_whole(known.pattern)) break;
    return add_stage(known.pattern, file_name);
  }
  return unsupported(file_name, concat("Split with the pattern ", io::quoted(regex), " (", regex.size(),
                                       " bytes), which is none of the known ones"));
}

Status PreTokenizer::add(const io::Json& json, const std::string& file_name) {
  const std::string_view type = string_of(json, "type");
  if (is_byte_level_) return unsupported(file_name, io::quoted(type) + " after ByteLevel");
  if (type == "ByteLevel") {
    if (bool_of(json, "add_prefix_space", true)) return unsupported(file_name, "ByteLevel with add_prefix_space");
    is_byte_level_ = true;
    return bool_of(json, "use_regex", true) ? add_stage(WordPattern::gpt2, file_name) : ok_status();
  }
  if (type == "Split") return add_split(json, file_name);
  if (type == "Digits") {
    const bool individual = bool_of(json, "individual_digits", false);
    return add_stage(individual ? WordPattern::number : WordPattern::number_run, file_name);
  }
  return unsupported(file_name, "type " + io::quoted(type) + " (known: Sequence, Split, Digits, ByteLevel)");
}

Result<PreTokenizer> PreTokenizer::from_json(const io::Json& json, const std::string& file_name) {
  PreTokenizer result;
  if (string_of(json, "type") == "Sequence") {
    const io::Json* parts = json.find("pretokenizers");
    if (parts == nullptr || !parts->is_array()) {
      return make_error(StatusCode::bad_file, file_name + ": pre_tokenizer.pretokenizers is missing or not an array");
    }
    for (const io::Json& part : parts->items()) PAGODA_RETURN_IF_ERROR(result.add(part, file_name));
  } else {
    PAGODA_RETURN_IF_ERROR(result.add(json, file_name));
  }
  if (!result.is_byte_level_)
    return unsupported(file_name, "no ByteLevel in it: only byte-level vocabularies are read");
  return result;
}

}  // namespace pagoda::text

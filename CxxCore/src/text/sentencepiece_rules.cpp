// Reads the rules for spaces from tokenizer.json, and applies them.
#include "text/sentencepiece_rules.h"

#include "base/quoted.h"

namespace pagoda::text {
namespace {

constexpr std::string_view kMark = "\xE2\x96\x81";  // U+2581

std::string_view string_of(const io::Json& json, std::string_view key) {
  const io::Json* value = json.find(key);
  return value != nullptr && value->is_string() ? std::string_view(value->as_string()) : std::string_view();
}

// The parts of a Sequence, or the object itself if it is not one; none for null.
std::vector<const io::Json*> parts_of(const io::Json* json, const char* key) {
  std::vector<const io::Json*> parts;
  if (json == nullptr || !json->is_object()) return parts;
  const io::Json* list = string_of(*json, "type") == "Sequence" ? json->find(key) : nullptr;
  if (list == nullptr) return {json};
  for (const io::Json& part : list->items()) parts.push_back(&part);
  return parts;
}

bool is_split_at_spaces(const io::Json& json) {
  const io::Json* pattern = json.find("pattern");
  return string_of(json, "type") == "Split" && pattern != nullptr && string_of(*pattern, "String") == " ";
}

class RulesReader {
 public:
  RulesReader(const io::Json& top, const std::string& file_name) : top_(top), file_name_(file_name) {}

  Result<SentencePieceRules> read() {
    for (const io::Json* part : parts_of(top_.find("normalizer"), "normalizers"))
      PAGODA_RETURN_IF_ERROR(read_normalizer(*part));
    for (const io::Json* part : parts_of(top_.find("pre_tokenizer"), "pretokenizers"))
      PAGODA_RETURN_IF_ERROR(read_pre_tokenizer(*part));
    for (const io::Json* part : parts_of(top_.find("decoder"), "decoders")) PAGODA_RETURN_IF_ERROR(read_decoder(*part));
    return rules_;
  }

 private:
  Status unsupported(const std::string& what) const {
    return make_error(StatusCode::unsupported, file_name_ + ": " + what);
  }

  Status read_normalizer(const io::Json& json) {
    const std::string_view type = string_of(json, "type");
    const io::Json* pattern = json.find("pattern");
    if (type == "NFC") rules_.nfc = true;
    else if (type == "Prepend" && string_of(json, "prepend") == kMark) rules_.prepends = true;
    else if (type == "Replace" && pattern != nullptr && string_of(*pattern, "String") == " " &&
             string_of(json, "content") == kMark)
      replaces_ = true;
    else
      return unsupported("normalizer: " + io::quoted(type) +
                         " is not read with SentencePiece, only NFC, and Prepend and " +
                         "Replace that write U+2581 for spaces");
    return ok_status();
  }

  Status read_pre_tokenizer(const io::Json& json) {
    if (is_split_at_spaces(json) && replaces_) return ok_status();  // no spaces are left
    if (string_of(json, "type") != "Metaspace")
      return unsupported("pre_tokenizer: " + io::quoted(string_of(json, "type")) + " is not read with SentencePiece");
    const std::string_view scheme = string_of(json, "prepend_scheme");
    const io::Json *old = json.find("add_prefix_space"), *split = json.find("split");
    if (string_of(json, "replacement") != kMark) return unsupported("pre_tokenizer: Metaspace with another mark");
    rules_.prefix = scheme == "never"                                     ? SentencePieceRules::Prefix::never
                    : scheme == "first"                                   ? SentencePieceRules::Prefix::first
                    : scheme.empty() && old != nullptr && !old->as_bool() ? SentencePieceRules::Prefix::never
                                                                          : SentencePieceRules::Prefix::always;
    rules_.splits = split == nullptr || split->as_bool();
    return ok_status();
  }

  Status read_decoder(const io::Json& json) {
    const std::string_view type = string_of(json, "type");
    const io::Json *start = json.find("start"), *stop = json.find("stop");
    if (type == "Strip") {
      const bool is_known = string_of(json, "content") == " " && start != nullptr && stop != nullptr &&
                            start->is_integer() && start->as_integer() <= 1 && stop->as_integer() == 0;
      if (!is_known) return unsupported("decoder: a Strip that takes more than a space at the beginning");
      if (start->as_integer() == 1) rules_.strip = SentencePieceRules::Strip::one_space;
    } else if (type == "Metaspace") {
      if (string_of(json, "prepend_scheme") != "never") rules_.strip = SentencePieceRules::Strip::first_token;
    } else if (type != "Replace" && type != "ByteFallback" && type != "Fuse") {
      return unsupported("decoder: " + io::quoted(type) + " is not read with SentencePiece");
    }
    return ok_status();
  }

  const io::Json& top_;
  const std::string& file_name_;
  SentencePieceRules rules_;
  bool replaces_ = false;
};

}  // namespace

bool has_sentencepiece_cutter(const io::Json* pre_tokenizer, bool byte_fallback) {
  if (pre_tokenizer == nullptr || pre_tokenizer->is_null()) return byte_fallback;
  for (const io::Json* part : parts_of(pre_tokenizer, "pretokenizers"))
    if (string_of(*part, "type") == "Metaspace" || is_split_at_spaces(*part)) return true;
  return false;
}

Result<SentencePieceRules> read_sentencepiece_rules(const io::Json& top, const std::string& file_name) {
  return RulesReader(top, file_name).read();
}

void append_spaced(std::string_view text, const std::vector<OriginRun>& runs, bool prepends, std::string& out,
                   std::vector<OriginRun>& out_runs) {
  if (text.empty()) return;
  if (prepends) {
    out += ' ';
    add_run(out.size(), runs.front().from_template, out_runs);
  }
  size_t run = 0;
  for (size_t i = 0; i < text.size();) {
    while (runs[run].end <= i) ++run;
    const bool is_mark = text.substr(i).starts_with(kMark);
    bool from_template = runs[run].from_template;
    if (is_mark && runs[run].end < i + kMark.size()) from_template = false;  // the mark spans two runs
    out += is_mark ? ' ' : text[i];
    add_run(out.size(), from_template, out_runs);
    i += is_mark ? kMark.size() : 1;
  }
}

std::string spaced_token(std::string_view spelling) {
  std::string bytes;
  for (size_t i = 0; i < spelling.size();) {
    const bool is_mark = spelling.substr(i).starts_with(kMark);
    bytes += is_mark ? ' ' : spelling[i];
    i += is_mark ? kMark.size() : 1;
  }
  return bytes;
}

std::string spelled_token(std::string_view bytes) {
  std::string spelling;
  for (const char c : bytes) c == ' ' ? spelling += kMark : spelling += c;
  return spelling;
}

int byte_of_token(std::string_view spelling) noexcept {
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling[5] != '>') return -1;
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
  const int high = digit(spelling[3]), low = digit(spelling[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace pagoda::text

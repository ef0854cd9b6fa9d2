// Words that grow by one letter per merge, and their vocabulary as tokenizer.json.
#include "io/synthetic/text.h"

#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/json_writer.h"

namespace pagoda::io {
namespace {

constexpr std::string_view kControlTokens[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>",
                                               "</tool_call>"};
constexpr int32_t kNumControl = std::size(kControlTokens);
constexpr int kMaxLetters = 4;

constexpr std::string_view kChatTemplate =
    R"({%- set system = messages[0].content if messages and messages[0].role == 'system' else '' %}
{%- if system or tools %}
    {{- '<|im_start|>system\n' + system }}
    {%- if tools %}
        {{- '\n<tools>\n' }}
        {%- for tool in tools %}{{- (tool | tojson) + '\n' }}{%- endfor %}
        {{- '</tools>\n<tool_call>\n{"name": NAME, "arguments": ARGUMENTS}\n</tool_call>' }}
    {%- endif %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role != 'system' or not loop.first %}
        {{- '<|im_start|>' + message.role + '\n' + (message.content or '') }}
        {%- for call in message.tool_calls or [] %}
            {{- '\n<tool_call>\n' + ((call.function or call) | tojson) + '\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
)";

// The character that spells a byte in byte-level vocabularies, in UTF-8.
std::string spelling(unsigned byte, unsigned& next_spare) {
  const bool is_printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
  const unsigned character = is_printable ? byte : next_spare++;
  if (character < 0x80) return {static_cast<char>(character)};
  return {static_cast<char>(0xC0 | character >> 6), static_cast<char>(0x80 | (character & 0x3F))};
}

class Vocabulary {
 public:
  explicit Vocabulary(int32_t size) : max_plain_(size - kNumControl) {
    unsigned next_spare = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) add(spelling(byte, next_spare));
    const std::vector<std::string> letters(spellings_.begin() + 'a', spellings_.begin() + 'z' + 1);
    std::vector<std::string> words = {spellings_[' ']};
    for (int length = 1; length <= kMaxLetters; ++length) {
      words = lengthened(words, word_merges_);
      if (length == 2) lengthened(letters, pair_merges_);
    }
  }

  std::string json() const {
    std::string out = R"({"version":"1.0","added_tokens":[)";
    for (int32_t i = 0; i < kNumControl; ++i) {
      out += concat(i > 0 ? "," : "", R"({"id":)", max_plain_ + i, R"(,"content":")", kControlTokens[i],
                    R"(","special":)", i < 3 ? "true}" : "false}");
    }
    constexpr std::string_view kByteLevel = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";
    out += concat(R"(],"normalizer":null,"pre_tokenizer":)", kByteLevel, R"(,"decoder":)", kByteLevel,
                  R"(,"model":{"type":"BPE","vocab":{)");
    for (int32_t id = 0; id < num_plain(); ++id) {
      if (id > 0) out += ',';
      append_json_string(spellings_[id], out);
      out += concat(":", id);
    }
    out += R"(},"merges":[)";
    for (const std::string& merge : word_merges_) out += concat(out.back() == '[' ? "\"" : ",\"", merge, "\"");
    for (const std::string& merge : pair_merges_) out += concat(out.back() == '[' ? "\"" : ",\"", merge, "\"");
    return out + "]}}";
  }

 private:
  int32_t num_plain() const noexcept { return static_cast<int32_t>(spellings_.size()); }
  void add(std::string spelling) { spellings_.push_back(std::move(spelling)); }

  // The given ones with one more letter each, as far as there is room.
  std::vector<std::string> lengthened(std::span<const std::string> shorter, std::vector<std::string>& merges) {
    std::vector<std::string> longer;
    for (const std::string& word : shorter) {
      for (char letter = 'a'; letter <= 'z' && num_plain() < max_plain_; ++letter) {
        longer.push_back(word + letter);
        merges.push_back(word + ' ' + letter);
        add(longer.back());
      }
    }
    return longer;
  }

  int32_t max_plain_;                   // entries that are not control tokens
  std::vector<std::string> spellings_;  // by id
  // "left right", in order of rank. Pairs of letters come last: a letter belongs to the word before it if that has
  // room.
  std::vector<std::string> word_merges_, pair_merges_;
};

}  // namespace

std::string shape_tokenizer_json(int32_t vocab_size) { return Vocabulary(vocab_size).json(); }

std::string_view shape_chat_template() noexcept { return kChatTemplate; }

}  // namespace pagoda::io

// Fuzzes the input text of the embedded model's tokenizer: ids are in range, and re-encoding is stable.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe/tokenizer.h"
#include "text/detokenizer.h"

namespace {

std::shared_ptr<const pagoda::text::SubwordTokenizer> load() {
  std::ifstream file(PAGODA_MINI_MODEL_DIR "/tokenizer.json", std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  const auto tokenizer = pagoda::text::SubwordTokenizer::from_json(json, "tokenizer.json");
  if (!tokenizer.is_ok()) __builtin_trap();
  return *tokenizer;
}

std::string decode(const pagoda::text::SubwordTokenizer& tokenizer, const std::vector<int32_t>& ids) {
  pagoda::text::Detokenizer detokenizer(&tokenizer, /*skip_special=*/false);
  std::string text;
  for (int32_t id : ids) detokenizer.push(id, text);
  detokenizer.finish(text);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto tokenizer = load();
  std::vector<int32_t> ids, again;
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  if (!tokenizer->encode(given, /*parse_special=*/size % 2 == 0, ids).is_ok()) return 0;
  for (int32_t id : ids) {
    if (!tokenizer->has_token(id)) __builtin_trap();
  }
  // The first pass may normalise the text (NFC, U+FFFD for broken UTF-8); after that it is stable.
  const std::string text = decode(*tokenizer, ids);
  if (!tokenizer->encode(text, /*parse_special=*/true, again).is_ok()) __builtin_trap();
  if (decode(*tokenizer, again) != text) __builtin_trap();
  return 0;
}

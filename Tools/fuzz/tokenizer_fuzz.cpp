// Fuzzes tokenizer.json: any tokenizer that loads can encode text and decode the resulting ids.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe/tokenizer.h"
#include "text/detokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = pagoda::text::SubwordTokenizer::from_json(json, "tokenizer.json");
  if (!tokenizer.is_ok()) return 0;
  std::vector<int32_t> ids;
  if (!(*tokenizer)->encode("It's 12 o'clock.\n\n <|im_end|> \xC3\xA4", /*parse_special=*/true, ids).is_ok()) return 0;
  pagoda::text::Detokenizer detokenizer(tokenizer->get(), /*skip_special=*/false);
  std::string text;
  for (int32_t id : ids) detokenizer.push(id, text);
  detokenizer.finish(text);
  return 0;
}

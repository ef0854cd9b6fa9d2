// model: LoRA adapters give the logits of peft's merged model, and rows keep their bits beside others.
#include <cmath>
#include <cstring>

#include "io/lora/lora_file.h"
#include "model/adapters/image.h"
#include "model/adapters/layout.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

constexpr double kTolerance = 2e-4;
constexpr int64_t kAdapterBytes = 1 << 20;

struct Expected {
  std::vector<int32_t> prompt;
  std::vector<float> logits;  // [prompt, vocab]
};

std::string lora_dir(const std::string& name) { return fixtures_dir() + "/lora/" + name; }
std::string model_dir(const std::string& name) { return fixtures_dir() + "/model/" + name; }

Expected read_expected(const std::string& adapter) {
  Expected expected;
  auto files = io::open_model_files(folder(lora_dir(adapter) + "/expected"));
  auto checkpoint = files.is_ok() ? io::Checkpoint::open(**files) : Result<io::Checkpoint>(files.status);
  CHECK_OK(checkpoint);
  if (!checkpoint.is_ok()) return expected;
  const io::TensorEntry &prompt = *checkpoint->find("prompt"), &logits = *checkpoint->find("logits");
  expected.prompt.resize(prompt.size_bytes / sizeof(int32_t));
  expected.logits.resize(logits.size_bytes / sizeof(float));
  CHECK_OK(checkpoint->read(prompt, 0, std::as_writable_bytes(std::span(expected.prompt))));
  CHECK_OK(checkpoint->read(logits, 0, std::as_writable_bytes(std::span(expected.logits))));
  return expected;
}

// Returns the elements that the adapter takes.
int64_t place(ModelRunner& runner, const std::string& adapter, int32_t slot, int64_t begin) {
  auto file = io::LoraFile::open(lora_dir(adapter));
  CHECK_OK(file);
  if (!file.is_ok()) return 0;
  const auto image = model::make_image(*runner.model().adapter_layout(), *file);
  CHECK_OK(image);
  if (!image.is_ok()) return 0;
  CHECK_OK(runner.model().place_adapter(slot, begin, *image));
  CHECK_EQ(*model::image_size(*runner.model().adapter_layout(), *file), static_cast<int64_t>(image->values.size()));
  return static_cast<int64_t>(image->values.size());
}

std::vector<float> logits_with(ModelRunner& runner, std::span<const int32_t> prompt, size_t chunk, int32_t adapter) {
  runner.reset();
  ModelRunner::Sequence sequence;
  sequence.adapter = adapter;
  std::vector<float> all;
  for (size_t begin = 0; begin < prompt.size(); begin += chunk) {
    const ModelRunner::Chunk step{&sequence, prompt.subspan(begin, std::min(chunk, prompt.size() - begin)), true};
    const auto logits = runner.step({&step, 1});
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

void check_merged(const std::string& model, const std::string& adapter) {
  const Expected expected = read_expected(adapter);
  REQUIRE(!expected.prompt.empty());
  for (const std::string& device : device::device_names()) {
    if (device == "auto") continue;
    auto runner = ModelRunner::load(
        folder(model_dir(model)),
        {.device = device, .max_tokens = 64, .max_seqs = 3, .max_context = 64, .adapter_bytes = kAdapterBytes});
    REQUIRE_OK(runner);
    place(**runner, adapter, 3, 17);
    const std::vector<float> logits = logits_with(**runner, expected.prompt, 64, 3);
    CHECK_EQ(logits.size(), expected.logits.size());
    double worst = 0;
    for (size_t i = 0; i < std::min(logits.size(), expected.logits.size()); ++i) {
      const double difference = std::abs(static_cast<double>(logits[i]) - expected.logits[i]);
      if (!(difference <= worst)) worst = difference;
    }
    note(device + ": largest difference " + std::to_string(worst));
    CHECK(worst <= kTolerance);
    CHECK(same_bits(logits_with(**runner, expected.prompt, 7, 3), logits));
  }
}

}  // namespace

PAGODA_TEST(lora_on_every_projection_of_qwen3_5_matches_peft) { check_merged("qwen3_5", "qwen3_5_all"); }
PAGODA_TEST(lora_with_rslora_and_patterns_matches_peft) { check_merged("qwen3_5", "qwen3_5_rslora"); }
PAGODA_TEST(lora_on_packed_projections_of_qwen3_next_matches_peft) {
  check_merged("qwen3_next_dense_layer", "qwen3_next_all");
}
PAGODA_TEST(lora_on_llama_with_biases_matches_peft) { check_merged("llama_bias", "llama_bias_all"); }
PAGODA_TEST(lora_of_mlx_matches_peft) { check_merged("qwen3_5", "qwen3_5_mlx"); }
PAGODA_TEST(lora_on_experts_and_routers_matches_peft) { check_merged("qwen3_5_moe_odd", "qwen3_5_moe_all"); }
PAGODA_TEST(lora_on_parameters_of_experts_matches_peft) {
  check_merged("qwen3_5_moe", "qwen3_5_moe_experts");
  check_merged("qwen3_next_dense_layer", "qwen3_next_experts");
  check_merged("qwen3_moe_dense_layers", "qwen3_moe_down");
  check_merged("qwen3_moe_dense_layers", "qwen3_moe_down_earlier");
}
PAGODA_TEST(lora_on_each_expert_matches_peft) { check_merged("qwen3_5_moe", "qwen3_5_moe_per_expert"); }
PAGODA_TEST(lora_of_mlx_on_experts_matches_peft) { check_merged("qwen3_5_moe", "qwen3_5_moe_switch"); }

// Two adapters and the base in one batch, in chunks: each has the bits it has alone, and the base those of a model
// that never had adapters.
static void check_rows(const std::string& model, const std::string& first, const std::string& second) {
  const std::vector<int32_t> prompt = read_expected(first).prompt;
  REQUIRE(!prompt.empty());
  for (const std::string& device : device::device_names())
    for (const char* quantize : {"none", "bf16", "8bit", "4bit"}) {
      if (device == "auto") continue;
      RunnerOptions options{
          .device = device, .quantize = quantize, .max_tokens = 130, .max_seqs = 3, .max_context = 64};
      auto plain = ModelRunner::load(folder(model_dir(model)), options);
      options.adapter_bytes = kAdapterBytes;
      auto runner = ModelRunner::load(folder(model_dir(model)), options);
      REQUIRE_OK(plain);
      REQUIRE_OK(runner);
      const int64_t size = place(**runner, first, 0, 0);
      place(**runner, second, 1, size);
      const std::vector<float> base = logits_of(**plain, prompt, 64);
      std::vector<std::vector<float>> alone = {base, logits_with(**runner, prompt, 64, 0),
                                               logits_with(**runner, prompt, 64, 1)};
      CHECK(same_bits(logits_of(**runner, prompt, 64), base));
      CHECK(!same_bits(alone[1], base) && !same_bits(alone[2], base) && !same_bits(alone[1], alone[2]));
      (*runner)->reset();
      ModelRunner::Sequence sequences[3];
      for (int32_t i = 0; i < 3; ++i) sequences[i].adapter = i - 1;
      std::vector<std::vector<float>> together(3);
      for (size_t begin = 0; begin < prompt.size(); begin += 9) {
        std::vector<ModelRunner::Chunk> chunks;
        const auto tokens = std::span(prompt).subspan(begin, std::min<size_t>(9, prompt.size() - begin));
        for (ModelRunner::Sequence& sequence : sequences) chunks.push_back({&sequence, tokens, true});
        const auto logits = (*runner)->step(chunks);
        REQUIRE(logits.size() % 3 == 0);
        const size_t each = logits.size() / 3;
        for (size_t i = 0; i < 3; ++i)
          together[i].insert(together[i].end(), logits.begin() + static_cast<std::ptrdiff_t>(i * each),
                             logits.begin() + static_cast<std::ptrdiff_t>((i + 1) * each));
      }
      for (size_t i = 0; i < 3; ++i) CHECK(same_bits(together[i], alone[i]));
      if (failed()) return note(device + " " + quantize);
    }
}

PAGODA_TEST(lora_rows_keep_their_bits_beside_others) { check_rows("qwen3_5", "qwen3_5_all", "qwen3_5_rslora"); }
PAGODA_TEST(lora_rows_of_experts_keep_their_bits_beside_others) {
  check_rows("qwen3_5_moe", "qwen3_5_moe_experts", "qwen3_5_moe_down");
}

PAGODA_TEST(lora_of_another_model_is_refused_by_name) {
  auto runner = ModelRunner::load(folder(model_dir("llama_bias")), {.max_tokens = 16, .adapter_bytes = kAdapterBytes});
  REQUIRE_OK(runner);
  const auto file = io::LoraFile::open(lora_dir("qwen3_5_all"));
  REQUIRE_OK(file);
  const Status status = model::image_size(*(*runner)->model().adapter_layout(), *file).status;
  CHECK(status.code == StatusCode::unsupported || status.code == StatusCode::bad_file);
  CHECK(status.message.find("layers.0.") != std::string::npos);
}

}  // namespace pagoda::test

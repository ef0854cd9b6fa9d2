// model: logits and greedy tokens of every family match transformers, with the same bits however a prompt is split.
#include <cmath>
#include <cstring>

#include "device/op_list.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

constexpr double kTolerance = 2e-4;
constexpr size_t kWhole = 1 << 20;

struct Expected {
  std::vector<int32_t> prompt, positions, greedy;
  std::vector<float> logits;  // [positions, vocab]
};

template <class T>
std::vector<T> read_tensor(const io::Checkpoint& checkpoint, const std::string& name) {
  const io::TensorEntry* tensor = checkpoint.find(name);
  if (tensor == nullptr) return {};
  std::vector<T> values(tensor->size_bytes / sizeof(T));
  CHECK_OK(checkpoint.read(*tensor, 0, std::as_writable_bytes(std::span(values))));
  return values;
}

std::vector<Expected> read_expected(const std::string& folder_path, size_t max_length) {
  std::vector<Expected> all;
  auto files = io::open_model_files(folder(folder_path + "/expected"));
  auto checkpoint = files.is_ok() ? io::Checkpoint::open(**files) : Result<io::Checkpoint>(files.status);
  CHECK_OK(checkpoint);
  if (!checkpoint.is_ok()) return all;
  for (const char* length : {"1", "2", "15", "16", "17", "33", "63", "64", "65", "130", "300", "700"}) {
    if (checkpoint->find(std::string("prompt.") + length) == nullptr) continue;  // a model has seven of these lengths
    const auto name = [&](const char* what) { return std::string(what) + "." + length; };
    Expected e{read_tensor<int32_t>(*checkpoint, name("prompt")), read_tensor<int32_t>(*checkpoint, name("positions")),
               read_tensor<int32_t>(*checkpoint, name("greedy")), read_tensor<float>(*checkpoint, name("logits"))};
    if (e.prompt.size() <= max_length) all.push_back(std::move(e));
  }
  return all;
}

void check_close(const std::vector<float>& logits, const Expected& expected) {
  const size_t vocab = expected.logits.size() / expected.positions.size();
  CHECK_EQ(logits.size(), expected.prompt.size() * vocab);
  if (logits.size() != expected.prompt.size() * vocab) return;
  double worst = 0;
  for (size_t p = 0; p < expected.positions.size(); ++p)
    for (size_t i = 0; i < vocab; ++i) {
      const double got = logits[static_cast<size_t>(expected.positions[p]) * vocab + i];
      const double difference = std::abs(got - expected.logits[p * vocab + i]);
      if (!(difference <= worst)) worst = difference;  // NaN is worst
    }
  note("prompt of " + std::to_string(expected.prompt.size()) + ": largest difference " + std::to_string(worst));
  CHECK(worst <= kTolerance);
}

void check_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  CHECK_EQ(a.size(), b.size());
  CHECK(a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void check_greedy(ModelRunner& runner, const std::vector<Expected>& expected, size_t chunk) {
  std::vector<std::vector<int32_t>> prompts;
  for (const Expected& e : expected) prompts.push_back(e.prompt);
  const auto tokens = greedy(runner, prompts, expected.front().greedy.size(), chunk);
  for (size_t i = 0; i < expected.size(); ++i) CHECK(tokens[i] == expected[i].greedy);
}

// All prompts in one step: the logits of each are those it has alone.
void check_batched(ModelRunner& runner, const std::vector<Expected>& expected,
                   const std::vector<std::vector<float>>& alone) {
  runner.reset();
  std::vector<ModelRunner::Sequence> sequences(expected.size());
  std::vector<ModelRunner::Chunk> chunks;
  std::vector<float> wanted;
  for (size_t i = 0; i < expected.size(); ++i) {
    chunks.push_back({&sequences[i], expected[i].prompt, true});
    wanted.insert(wanted.end(), alone[i].begin(), alone[i].end());
  }
  const auto logits = runner.step(chunks);
  check_same_bits({logits.begin(), logits.end()}, wanted);
}

// Every prompt whole, in chunks and with others, with blocks of every size: close to transformers, and bit-identical to
// each other.
void check_on_cpu(const std::string& path) {
  const std::vector<Expected> expected = read_expected(path, 700);
  REQUIRE(!expected.empty());
  std::vector<std::vector<float>> alone;
  for (int32_t block_size : {16, 8, 32}) {
    auto runner = ModelRunner::load(folder(path), {.block_size = block_size, .max_tokens = 1100});
    REQUIRE_OK(runner);
    for (size_t i = 0; i < expected.size(); ++i) {
      const size_t chunk = block_size == 16 ? kWhole : (block_size == 8 ? 17 : 64);
      const std::vector<float> logits = logits_of(**runner, expected[i].prompt, chunk);
      if (block_size != 16) {
        check_same_bits(logits, alone[i]);
        continue;
      }
      check_close(logits, expected[i]);
      alone.push_back(logits);
    }
    if (block_size != 16) check_batched(**runner, expected, alone);
    if (block_size != 8) check_greedy(**runner, expected, block_size == 16 ? kWhole : 64);
  }
}

// Other devices and forced instruction sets: prompts of about a block's size, the longest also in chunks.
void check_briefly(const std::string& path, const std::string& device) {
  note(device);
  std::vector<Expected> expected = read_expected(path, 65);
  REQUIRE(!expected.empty());
  auto runner = ModelRunner::load(folder(path), {.device = device, .max_tokens = 80, .max_context = 80});
  REQUIRE_OK(runner);
  for (const Expected& e : expected)
    if (e.prompt.size() % 64 <= 33) check_close(logits_of(**runner, e.prompt, kWhole), e);
  check_close(logits_of(**runner, expected.back().prompt, 17), expected.back());
  expected.resize(2);
  check_greedy(**runner, expected, kWhole);
}

// Qwen4-Exp is refused by devices without its ops, and the message names one that has them.
bool runs_on(const std::string& device, const std::string& path) {
  auto opened = open_model(folder(path));
  auto made = device::make_device(device, 1);
  if (!opened.is_ok() || !made.is_ok() || !opened->config.has_streams()) return true;
  if ((*made)->encoder().can(device::MixStreamsArgs{})) return true;
  const auto runner = ModelRunner::load(folder(path), {.device = device, .max_tokens = 80, .max_context = 80});
  CHECK(!runner.is_ok() && runner.status.code == StatusCode::unsupported &&
        runner.status.message.find("cpu can") != std::string::npos);
  return false;
}

void check_model(const std::string& name) {
  const std::string path = fixtures_dir() + "/model/" + name;
  check_on_cpu(path);
  for (const std::string& device : device::device_names()) {
    if (device == "cpu" || device == "auto") continue;
    if (runs_on(device, path)) check_briefly(path, device);
  }
}

}  // namespace

PAGODA_TEST(model_qwen3_5_matches_transformers) { check_model("qwen3_5"); }
PAGODA_TEST(model_qwen3_5_tied_matches_transformers) { check_model("qwen3_5_tied"); }
PAGODA_TEST(model_qwen3_5_with_real_head_sizes_matches_transformers) { check_model("qwen3_5_real_heads"); }
PAGODA_TEST(model_qwen3_5_with_vision_and_mtp_matches_transformers) { check_model("qwen3_5_vision"); }
PAGODA_TEST(model_qwen3_5_moe_matches_transformers) { check_model("qwen3_5_moe"); }
PAGODA_TEST(model_qwen3_next_matches_transformers) { check_model("qwen3_next"); }
PAGODA_TEST(model_qwen3_5_moe_of_odd_sizes_matches_transformers) { check_model("qwen3_5_moe_odd"); }
PAGODA_TEST(model_qwen3_next_with_a_dense_layer_matches_transformers) { check_model("qwen3_next_dense_layer"); }
PAGODA_TEST(model_qwen3_moe_with_dense_layers_matches_transformers) { check_model("qwen3_moe_dense_layers"); }
PAGODA_TEST(model_qwen3_matches_transformers) { check_model("qwen3"); }
PAGODA_TEST(model_qwen3_without_head_dim_matches_transformers) { check_model("qwen3_no_head_dim"); }
PAGODA_TEST(model_qwen2_with_bias_and_sliding_window_matches_transformers) { check_model("qwen2"); }
PAGODA_TEST(model_llama_with_scaled_rope_matches_transformers) { check_model("llama3"); }
PAGODA_TEST(model_llama_with_every_bias_and_linear_rope_matches_transformers) { check_model("llama_bias"); }
PAGODA_TEST(model_qwen2_with_yarn_matches_transformers) { check_model("qwen2_yarn"); }
PAGODA_TEST(model_qwen2_with_dynamic_rope_matches_transformers) { check_model("qwen2_dynamic"); }
PAGODA_TEST(model_qwen3_with_yarn_matches_transformers) { check_model("qwen3_yarn"); }
PAGODA_TEST(model_qwen3_5_with_yarn_matches_transformers) { check_model("qwen3_5_yarn"); }
PAGODA_TEST(model_llama_with_yarn_matches_transformers) { check_model("llama_yarn"); }
PAGODA_TEST(model_mistral_matches_transformers) { check_model("mistral"); }
PAGODA_TEST(model_phi3_matches_transformers) { check_model("phi3"); }
PAGODA_TEST(model_phi3_with_longrope_matches_transformers) { check_model("phi3_long"); }
PAGODA_TEST(model_gemma3_matches_transformers) { check_model("gemma3"); }
PAGODA_TEST(model_qwen3_moe_with_yarn_matches_transformers) { check_model("qwen3_moe_yarn"); }
PAGODA_TEST(model_deepseek_v2_matches_transformers) { check_model("deepseek_v2"); }
PAGODA_TEST(model_deepseek_v2_with_groups_matches_transformers) { check_model("deepseek_v2_groups"); }
PAGODA_TEST(model_deepseek_v3_matches_transformers) { check_model("deepseek_v3"); }
PAGODA_TEST(model_glm4_moe_lite_matches_transformers) { check_model("glm4_moe_lite"); }
PAGODA_TEST(model_minicpm3_matches_transformers) { check_model("minicpm3"); }
PAGODA_TEST(model_minicpm3_with_longrope_matches_transformers) { check_model("minicpm3_long"); }
PAGODA_TEST(model_kimi_linear_matches_transformers) { check_model("kimi_linear"); }
PAGODA_TEST(model_kimi_linear_with_real_head_sizes_matches_transformers) { check_model("kimi_linear_real_heads"); }
PAGODA_TEST(model_olmo_hybrid_matches_transformers) { check_model("olmo_hybrid"); }
PAGODA_TEST(model_olmo_hybrid_with_rotation_and_biases_matches_transformers) { check_model("olmo_hybrid_options"); }
PAGODA_TEST(model_text_of_qwen3_omni_matches_transformers) { check_model("qwen3_omni"); }
PAGODA_TEST(model_qwen4_exp_matches_transformers) { check_model("qwen4_exp"); }
PAGODA_TEST(model_text_of_qwen4_exp_matches_transformers) { check_model("qwen4_exp_vision"); }
PAGODA_TEST(model_smollm2_matches_transformers) { check_model("smollm2"); }

}  // namespace pagoda::test

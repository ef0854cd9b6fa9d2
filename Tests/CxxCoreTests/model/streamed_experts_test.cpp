// model: experts that stay in their files give the same bits as experts in memory, for any memory; a file that cannot
// be read fails a step and names the tensor.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "device/cpu/cpu_device.h"
#include "model/checkpoint_editor.h"

namespace pagoda::test {
namespace {

namespace fs = std::filesystem;

struct Mixture {
  std::string path, quantize;
};

std::vector<Mixture> mixtures() {
  const std::string all = fixtures_dir() + "/";
  std::vector<Mixture> found;
  for (const char* name :
       {"qwen3_5_moe", "qwen3_next", "qwen3_5_moe_odd", "qwen3_moe_dense_layers", "deepseek_v3", "qwen4_exp"})
    for (const char* quantize : {"none", "8bit"}) found.push_back({all + "model/" + name, quantize});
  for (const char* name : {"qwen3_moe", "qwen3_next", "qwen3_next_bf16"})
    for (const char* quantize : {"auto", "4bit"}) found.push_back({all + "mlx/" + name, quantize});
  for (const char* name : {"qwen35moe.gguf", "qwen3moe.gguf"}) found.push_back({all + "gguf/" + name, "auto"});
  return found;
}

std::vector<int32_t> prompt_of(int32_t vocab, size_t length) {
  std::mt19937 random(static_cast<uint32_t>(seed(4)));
  std::vector<int32_t> prompt(length);
  for (int32_t& token : prompt) token = static_cast<int32_t>(random() % static_cast<uint32_t>(vocab));
  return prompt;
}

RunnerOptions options_of(const Mixture& mixture, int64_t expert_memory_bytes) {
  return {
      .quantize = mixture.quantize, .max_tokens = 64, .max_context = 128, .expert_memory_bytes = expert_memory_bytes};
}

struct Sizes {
  int64_t least = 0, all = 0;
};

Sizes expert_sizes(const Mixture& mixture) {
  auto opened = open_model(folder(mixture.path));
  auto device = device::make_device("cpu", 1);
  if (!opened.is_ok() || !device.is_ok()) return {};
  const DType dtype = *model::choose_dtype("auto", opened->config, *opened->checkpoint);
  const WeightFormat format = *model::choose_format(mixture.quantize, dtype, *opened->checkpoint);
  const auto weights = model::check_weights(opened->config, *opened->checkpoint, **device, format);
  CHECK_OK(weights);
  Sizes sizes{0, weights->expert_bytes};
  for (const int64_t size : weights->expert_sizes) sizes.least += size + 64;
  return sizes;
}

}  // namespace

PAGODA_TEST(model_experts_in_files_give_the_same_bits) {
  int64_t num_guesses = 0, num_right_guesses = 0;  // steps of one token guess the next layer's experts
  for (const Mixture& mixture : mixtures()) {
    note(mixture.path + " " + mixture.quantize);
    const Sizes sizes = expert_sizes(mixture);
    auto whole = ModelRunner::load(folder(mixture.path), options_of(mixture, 0));
    REQUIRE_OK(whole);
    const std::vector<int32_t> prompt = prompt_of((*whole)->config().vocab_size, 50);
    const std::vector<float> wanted = logits_of(**whole, prompt, 50);
    // One expert, half of them, all of them.
    for (const int64_t memory : {sizes.least, sizes.least + sizes.all / 2, 2 * sizes.all}) {
      auto streamed = ModelRunner::load(folder(mixture.path), options_of(mixture, memory));
      REQUIRE_OK(streamed);
      for (const size_t chunk : {50u, 7u, 1u}) CHECK(same_bits(logits_of(**streamed, prompt, chunk), wanted));
      const auto stats = (*streamed)->device().expert_stats();
      CHECK(stats.memory_bytes > 0 && stats.memory_bytes <= memory);
      CHECK(stats.num_reads > 0 && stats.num_hits + stats.num_late + stats.num_misses > 0);
      if (memory == 2 * sizes.all) CHECK(stats.read_bytes <= 2 * sizes.all);  // each at most once
      if (memory == sizes.least) CHECK(stats.read_bytes > sizes.all);
      CHECK(stats.num_right_guesses <= stats.num_guesses && stats.wait_seconds >= 0);
      num_guesses += stats.num_guesses;
      num_right_guesses += stats.num_right_guesses;
    }
  }
  note(std::to_string(num_right_guesses) + " of " + std::to_string(num_guesses) + " guesses were right");
  CHECK(num_guesses > 0 && num_right_guesses > 0);
}

PAGODA_TEST(model_experts_in_files_give_the_same_bits_on_every_instruction_set) {
  const Mixture mixture{fixtures_dir() + "/mlx/qwen3_next", "auto"};
  for (const std::string& isa : device::cpu::supported_isas()) {
    RunnerOptions options = options_of(mixture, 0);
    options.device = "cpu:" + isa;
    auto whole = ModelRunner::load(folder(mixture.path), options);
    options.expert_memory_bytes = expert_sizes(mixture).all / 3;
    auto streamed = ModelRunner::load(folder(mixture.path), options);
    REQUIRE_OK(whole);
    REQUIRE_OK(streamed);
    const std::vector<int32_t> prompt = prompt_of((*whole)->config().vocab_size, 30);
    CHECK(same_bits(logits_of(**streamed, prompt, 9), logits_of(**whole, prompt, 9)));
  }
}

PAGODA_TEST(model_experts_in_a_file_that_ends_fail_the_step) {
  const std::string source = fixtures_dir() + "/model/qwen3_5_moe", copy = temporary_dir();
  for (const char* name : {"config.json", "model.safetensors"}) fs::copy(source + "/" + name, copy + "/" + name);
  const Mixture mixture{copy, "none"};
  auto whole = ModelRunner::load(folder(source), options_of(mixture, 0));
  auto runner = ModelRunner::load(folder(copy), options_of(mixture, expert_sizes(mixture).least));
  REQUIRE_OK(whole);
  REQUIRE_OK(runner);
  const std::vector<int32_t> prompt = prompt_of((*whole)->config().vocab_size, 20);
  const std::vector<float> wanted = logits_of(**whole, prompt, 20);
  CHECK(same_bits(logits_of(**runner, prompt, 20), wanted));

  const std::string file = copy + "/model.safetensors";
  fs::resize_file(file, 4096);
  (*runner)->reset();
  ModelRunner::Sequence sequence;
  const ModelRunner::Chunk chunk{&sequence, prompt, true};
  const Status status = (*runner)->model().forward((*runner)->make_batch({&chunk, 1}));
  note(status.message);
  CHECK(status.code == StatusCode::io_error);
  CHECK(status.message.find(file) != status.message.npos);
  CHECK(status.message.find("tensor ") == 0 && status.message.find(".experts.") != status.message.npos);

  fs::copy_file(source + "/model.safetensors", file, fs::copy_options::overwrite_existing);
  CHECK(same_bits(logits_of(**runner, prompt, 20), wanted));  // the next step reads again
}

PAGODA_TEST(model_experts_in_files_need_memory_for_one_of_each_size) {
  const Mixture mixture{fixtures_dir() + "/model/qwen3_next", "none"};
  auto runner = ModelRunner::load(folder(mixture.path), options_of(mixture, 100));
  CHECK(runner.status.code == StatusCode::out_of_memory);
  RunnerOptions on_reference = options_of(mixture, 1 << 20);
  on_reference.device = "reference";
  CHECK(ModelRunner::load(folder(mixture.path), on_reference).status.code == StatusCode::unsupported);
}

}  // namespace pagoda::test

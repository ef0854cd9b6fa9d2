// model: a GGUF file gives the text of the safetensors folder it was converted from.
#include <cstring>
#include <fstream>
#include <iterator>

#include "engine/load/loader.h"
#include "engine/load/text_files.h"
#include "io/gguf/gguf_file.h"
#include "model/checkpoint_editor.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

std::string path_of(const std::string& name) { return fixtures_dir() + "/gguf/" + name; }

std::vector<std::vector<int32_t>> prompts(int32_t vocab_size) {
  return {{1}, {5, 9, 200 % vocab_size, 31, 7}, std::vector<int32_t>(40, 77 % vocab_size)};
}

// The logits of both, compared by the largest difference.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  CHECK_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) worst = std::max<double>(worst, std::abs(a[i] - b[i]));
  return worst;
}

void check_same_model(const std::string& name, double tolerance, const ModelSource& source) {
  const RunnerOptions options{.dtype = "float32", .max_tokens = 128, .max_context = 128};
  auto original = ModelRunner::load(source, options);
  auto converted = ModelRunner::load(folder(path_of(name + ".gguf")), options);
  REQUIRE_OK(original);
  REQUIRE_OK(converted);
  const auto texts = prompts((*original)->config().vocab_size);
  for (const auto& prompt : texts) {
    const double worst = distance(logits_of(**original, prompt, 64), logits_of(**converted, prompt, 64));
    note(name + ": largest difference of logits " + std::to_string(worst));
    CHECK(worst <= tolerance);
  }
  CHECK(greedy(**original, texts, 64, 64) == greedy(**converted, texts, 64, 64));
}

void check_same_model(const std::string& name, double tolerance) {
  check_same_model(name, tolerance, folder(path_of(name)));
}

using Edits = std::vector<std::pair<std::string, std::string>>;

// A file with some bytes replaced.
std::string edited(const std::string& name, const Edits& edits) {
  std::ifstream file(path_of(name), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [from, to] : edits) {
    CHECK(bytes.find(from) != std::string::npos);
    if (bytes.find(from) != std::string::npos) bytes.replace(bytes.find(from), from.size(), to);
  }
  return bytes;
}

void check_refused(const Edits& edits, const std::vector<std::string>& words) {
  const std::string bytes = edited("qwen3next.gguf", edits);
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const ModelSource source{.directory = "", .files = {{"m.gguf", data, bytes.size()}}};
  const Status status = ModelRunner::load(source, {.device = "reference"}).status;
  CHECK(status.code == StatusCode::bad_file);
  note(status.message);
  for (const std::string& word : words) CHECK(status.message.find(word) != std::string::npos);
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

// Converting A_log to -exp(A_log) and back is not exact; everything else is.
PAGODA_TEST(model_gguf_of_qwen35_is_its_original) { check_same_model("qwen35", 1e-5); }
PAGODA_TEST(model_gguf_of_qwen35moe_is_its_original) { check_same_model("qwen35moe", 1e-5); }
PAGODA_TEST(model_gguf_of_qwen3next_is_its_original) { check_same_model("qwen3next", 1e-5); }
PAGODA_TEST(model_gguf_of_qwen3moe_is_its_original) { check_same_model("qwen3moe", 0.0); }
PAGODA_TEST(model_gguf_of_llama_is_its_original) { check_same_model("llama", 0.0); }
PAGODA_TEST(model_gguf_of_qwen2_is_its_original) { check_same_model("qwen2", 0.0); }

PAGODA_TEST(model_gguf_of_phi3_is_its_original) { check_same_model("phi3", 0.0); }
PAGODA_TEST(model_gguf_of_gemma3_is_its_original) { check_same_model("gemma3", 1e-5); }

// Keys and values of latents are separate there, and the file's YaRN multiplier is a float.
PAGODA_TEST(model_gguf_of_latent_attention_is_its_original) {
  for (const char* name : {"deepseek_v2", "glm4_moe_lite"})
    check_same_model(name, 1e-6, folder(fixtures_dir() + "/model/" + name));
}

// The converter has been seen to write 4 for any model: the kind of a layer is determined by its tensors.
PAGODA_TEST(model_gguf_with_a_wrong_interval_of_attention_is_read_by_its_tensors) {
  const auto interval = [](uint32_t value) { return gguf_u32("qwen35.full_attention_interval", value); };
  const std::string bytes = edited("qwen35.gguf", {{interval(2), interval(4)}});
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  auto wrong = ModelRunner::load({.directory = "", .files = {{"m.gguf", data, bytes.size()}}}, {.dtype = "float32"});
  auto right = ModelRunner::load(folder(path_of("qwen35.gguf")), {.dtype = "float32"});
  REQUIRE_OK(wrong);
  REQUIRE_OK(right);
  const std::vector<int32_t> prompt{5, 9, 200, 31, 7};
  CHECK_EQ(distance(logits_of(**right, prompt, 64), logits_of(**wrong, prompt, 64)), 0.0);
}

// Written by llama.cpp's own converter; the delta rule has a different number of heads than attention.
PAGODA_TEST(model_gguf_of_kimi_linear_is_its_original) {
  check_same_model("kimi_linear", 1e-5, folder(fixtures_dir() + "/model/kimi_linear"));
}

// The scales of MiniCPM3-4B and its context, which are not in the file; its frequency factors are floats there.
PAGODA_TEST(model_gguf_of_minicpm3_is_its_original) {
  CheckpointEditor editor(path_of("minicpm3"), fixtures_dir() + "/model/minicpm3_long");
  check_same_model("minicpm3", 1e-5, editor.write());
}

PAGODA_TEST(model_gguf_of_experts_that_do_not_fit_is_refused) {
  const auto count = [](uint32_t value) { return gguf_u32("qwen3next.expert_count", value); };
  check_refused({{count(3), count(4)}}, {"model.layers.0.mlp.gate.weight", "[3, 32]", "[4, 32]"});
  check_refused({{count(3), count(0)}}, {"qwen3next.expert_count", "is 0"});
  check_refused({{"expert_shared_feed_forward_length", "expert_shared_feed_forward_lengtH"}},
                {"qwen3next.expert_shared_feed_forward_length", "missing"});
  check_refused({{"blk.1.ffn_up_shexp.weight", "blk.1.ffn_up_shexP.weight"}},
                {"model.layers.1.mlp.shared_expert.up_proj.weight", "missing"});
  check_refused({{"blk.1.ffn_gate_exps.weight", "blk.1.ffn_gate_expS.weight"}},
                {"model.layers.1.mlp.switch_mlp.gate_proj.weight", "missing", "[3, 8, 32]"});
  check_refused({{"blk.1.ssm_ba.weight" + raw(uint32_t{2}) + raw(uint64_t{32}) + raw(uint64_t{8}),
                  "blk.1.ssm_ba.weight" + raw(uint32_t{2}) + raw(uint64_t{64}) + raw(uint64_t{4})}},
                {"blk.1.ssm_ba.weight", "size of its heads"});
  // Two dimensions instead of three; an unused key grows as much as the description shrinks, so that the data keeps
  // its offset.
  const std::string name = "blk.1.ffn_down_exps.weight", key = "qwen3next.rope.dimension_sections";
  check_refused({{gguf_string(key), gguf_string(key + "_no_such")},
                 {name + raw(uint32_t{3}) + raw(uint64_t{8}) + raw(uint64_t{32}) + raw(uint64_t{3}),
                  name + raw(uint32_t{2}) + raw(uint64_t{8}) + raw(uint64_t{96})}},
                {"model.layers.1.mlp.switch_mlp.down_proj.weight", "[96, 8]", "[3, 32, 8]"});
}

PAGODA_TEST(model_gguf_has_the_tokenizer_of_its_original) {
  for (const char* name : {"qwen35", "llama", "qwen2"}) check_same_tokenizer(name);
}

// The path of `pagoda info` and `pagoda generate`.
PAGODA_TEST(model_gguf_is_described_and_loaded_by_its_path) {
  EngineOptions options;
  options.max_model_len = 64;
  const auto info = engine::inspect(folder(path_of("qwen35.gguf")), options);
  REQUIRE_OK(info);
  CHECK_EQ(info->architecture, std::string("Qwen3_5ForCausalLM"));
  CHECK(info->has_tokenizer && info->has_chat_template && info->chat_template_error.empty());
  CHECK_EQ(info->weight_dtype, std::string("float16"));
  CHECK(info->eos_token_ids == (std::vector<int32_t>{267, 265}));
  const auto loaded = engine::load(folder(path_of("qwen35.gguf")), options, nullptr);
  REQUIRE_OK(loaded);
  CHECK(loaded->tokenizer != nullptr && loaded->chat_template != nullptr);
  const auto none = engine::inspect(folder(fixtures_dir() + "/gguf"), options);  // a folder with several
  CHECK(none.status.code == StatusCode::invalid_argument);
}

}  // namespace pagoda::test

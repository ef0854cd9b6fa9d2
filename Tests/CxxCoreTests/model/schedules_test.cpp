// model: families and options give the same bits however prompts are split and whichever requests share the step, in
// every weight and cache format; and the same model from every layout of a checkpoint.
#include <cstring>

#include "model/checkpoint_editor.h"

namespace pagoda::test {
namespace {

std::string fixture(const std::string& name) { return fixtures_dir() + "/model/" + name; }

std::vector<int32_t> random_prompt(size_t length, int32_t vocab, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> prompt(length);
  for (int32_t& token : prompt) token = static_cast<int32_t>(random() % static_cast<uint32_t>(vocab));
  return prompt;
}

// Whole, in chunks of 1, 7 and 16, and with others: bit-identical.
void check_schedules(const std::string& name, const RunnerOptions& options) {
  note(name + " " + options.dtype + " " + options.quantize + " " + options.kv_dtype + " " + options.state_dtype);
  auto runner = ModelRunner::load(folder(fixture(name)), options);
  REQUIRE_OK(runner);
  const int32_t vocab = (*runner)->config().vocab_size;
  std::vector<std::vector<int32_t>> prompts;
  std::vector<float> wanted;
  for (size_t length : {37u, 1u, 16u}) {
    prompts.push_back(random_prompt(length, vocab, static_cast<uint32_t>(seed(20) + length)));
    const std::vector<float> alone = logits_of(**runner, prompts.back(), length);
    for (size_t chunk : {1u, 7u, 16u}) CHECK(same_bits(logits_of(**runner, prompts.back(), chunk), alone));
    wanted.insert(wanted.end(), alone.begin(), alone.end());
  }
  (*runner)->reset();
  std::vector<ModelRunner::Sequence> sequences(prompts.size());
  std::vector<ModelRunner::Chunk> chunks;
  for (size_t i = 0; i < prompts.size(); ++i) chunks.push_back({&sequences[i], prompts[i], true});
  CHECK(same_bits((*runner)->step(chunks), wanted));
}

// Frequencies change at a position, wherever a chunk ends.
void check_past_the_trained_context(const std::string& name) {
  auto runner = ModelRunner::load(folder(fixture(name)), {.max_tokens = 256, .max_seqs = 2, .max_context = 256});
  REQUIRE_OK(runner);
  const std::vector<int32_t> prompt = random_prompt(230, (*runner)->config().vocab_size, 9);  // trained for 200
  const std::vector<float> whole = logits_of(**runner, prompt, 230);
  for (size_t chunk : {64u, 199u, 200u, 201u}) CHECK(same_bits(logits_of(**runner, prompt, chunk), whole));
}

// Experts of every layer in one tensor per projection, as in MLX and GGUF files.
void stack_projections(CheckpointEditor& editor) {
  std::map<std::string, CheckpointEditor::Tensor> stacked;
  for (auto it = editor.tensors.begin(); it != editor.tensors.end();) {
    const size_t at = it->first.find(".mlp.experts.");
    if (at == std::string::npos) {
      ++it;
      continue;
    }
    const size_t kind = it->first.find('.', at + std::strlen(".mlp.experts."));
    auto& tensor = stacked[it->first.substr(0, at) + ".mlp.switch_mlp" + it->first.substr(kind)];
    tensor.dtype = it->second.dtype;  // fewer than ten experts: names are in the order of numbers
    if (tensor.shape.empty()) tensor.shape = {0, it->second.shape[0], it->second.shape[1]};
    ++tensor.shape[0];
    tensor.bytes.insert(tensor.bytes.end(), it->second.bytes.begin(), it->second.bytes.end());
    it = editor.tensors.erase(it);
  }
  editor.tensors.merge(stacked);
}

// Replaces `from` in every name that contains it and `part`.
void rename(CheckpointEditor& editor, const std::string& part, const std::string& from, const std::string& to) {
  std::map<std::string, CheckpointEditor::Tensor> renamed;
  for (auto& [name, tensor] : editor.tensors) {
    std::string new_name = name;
    const size_t at = name.find(part) != name.npos ? name.find(from) : name.npos;
    if (at != name.npos) new_name.replace(at, from.size(), to);
    renamed[new_name] = std::move(tensor);
  }
  editor.tensors = std::move(renamed);
}

void check_same(CheckpointEditor& editor, const std::vector<float>& wanted, const std::vector<int32_t>& prompt) {
  auto runner = ModelRunner::load(editor.write(), {.max_tokens = 64, .max_context = 64});
  REQUIRE_OK(runner);
  CHECK(same_bits(logits_of(**runner, prompt, 17), wanted));
}

}  // namespace

PAGODA_TEST(model_options_give_the_same_bits_in_every_schedule_and_form) {
  const RunnerOptions small{.max_tokens = 64, .max_seqs = 4, .max_context = 48};
  for (const char* name :
       {"qwen3_5_moe_odd", "qwen3_next_dense_layer", "qwen3_moe_dense_layers", "qwen3_yarn", "qwen3_5_yarn", "mistral",
        "phi3", "gemma3", "qwen3_moe_yarn", "deepseek_v2", "deepseek_v2_groups", "deepseek_v3", "glm4_moe_lite",
        "minicpm3", "kimi_linear", "olmo_hybrid", "olmo_hybrid_options", "qwen4_exp", "qwen4_exp_vision"}) {
    check_schedules(name, small);
    for (const char* form : {"bf16", "8bit", "4bit"}) {
      RunnerOptions options = small;
      options.quantize = form;
      options.kv_dtype = std::string(form) == "8bit" ? "int8" : "auto";
      options.state_dtype = std::string(form) == "4bit" ? "bfloat16" : "float32";
      check_schedules(name, options);
    }
  }
}

PAGODA_TEST(model_experts_of_odd_sizes_are_the_same_from_every_layout) {
  for (const char* quantize : {"none", "8bit"}) {
    const RunnerOptions options{.quantize = quantize, .max_tokens = 32, .max_context = 32};
    CheckpointEditor editor(fixture("qwen3_moe_dense_layers"));
    const std::vector<int32_t> prompt = random_prompt(20, 48, 5);
    auto separate = ModelRunner::load(editor.write(), options);
    REQUIRE_OK(separate);
    const std::vector<float> wanted = logits_of(**separate, prompt, 20);
    stack_projections(editor);
    CHECK(editor.tensors.contains("model.layers.1.mlp.switch_mlp.gate_proj.weight"));
    auto stacked = ModelRunner::load(editor.write(), options);
    REQUIRE_OK(stacked);
    CHECK(same_bits(logits_of(**stacked, prompt, 20), wanted));
  }
}

PAGODA_TEST(model_olmo_hybrid_is_the_same_under_every_name) {
  const std::vector<int32_t> prompt = random_prompt(40, 48, 3);
  auto original = ModelRunner::load(folder(fixture("olmo_hybrid")), {.max_tokens = 64, .max_context = 64});
  REQUIRE_OK(original);
  const std::vector<float> wanted = logits_of(**original, prompt, 17);

  CheckpointEditor published(
      fixture("olmo_hybrid"));  // transformers renames the norm of attention layers too when it saves
  REQUIRE(published.tensors.contains("model.layers.3.feedforward_layer_norm.weight"));
  rename(published, "layers.3.", ".feedforward_layer_norm.", ".post_attention_layernorm.");
  check_same(published, wanted, prompt);

  CheckpointEditor mlx(
      fixture("olmo_hybrid"));  // names of the module's own parameters, convolutions [channels, kernel, 1]
  rename(mlx, "layers.", ".feedforward_layer_norm.", ".post_attention_layernorm.");
  rename(mlx, "layers.", ".attention_layer_norm.", ".input_layernorm.");
  size_t num_convolutions = 0;
  for (auto& [name, tensor] : mlx.tensors)
    if (name.ends_with("conv1d.weight")) {
      std::swap(tensor.shape[1], tensor.shape[2]);
      ++num_convolutions;
    }
  CHECK_EQ(num_convolutions, size_t{9});
  check_same(mlx, wanted, prompt);
}

PAGODA_TEST(model_olmo_hybrid_with_a_norm_under_two_names_is_refused) {
  CheckpointEditor editor(fixture("olmo_hybrid"));
  editor.tensors["model.layers.0.input_layernorm.weight"] =
      editor.tensors.at("model.layers.0.attention_layer_norm.weight");
  const Status status = ModelRunner::load(editor.write(), {.max_tokens = 64, .max_context = 64}).status;
  CHECK(status.code == StatusCode::bad_file && status.message.find("attention_layer_norm") != std::string::npos);
}

PAGODA_TEST(model_rotations_by_position_give_the_same_bits_in_every_schedule) {
  for (const char* name : {"qwen2_dynamic", "phi3_long", "minicpm3_long"}) check_past_the_trained_context(name);
}

// Zeros that pad a matrix are not parameters.
// Neither are tensors that are read twice, such as the projection of latents to keys and values.
PAGODA_TEST(model_counts_no_padding_among_its_parameters) {
  auto device = device::make_device("reference", 1);
  REQUIRE_OK(device);
  for (const char* model : {"qwen3_moe_dense_layers", "deepseek_v3", "deepseek_v2"}) {
    auto opened = open_model(folder(fixture(model)));
    REQUIRE_OK(opened);
    int64_t count = 0;
    for (const auto& [name, tensor] : opened->checkpoint->tensors())
      count += static_cast<int64_t>(tensor.size_bytes / 4);
    const auto summary = model::check_weights(opened->config, *opened->checkpoint, **device, WeightFormat::f32);
    REQUIRE_OK(summary);
    CHECK_EQ(summary->num_parameters, count);
  }
}

}  // namespace pagoda::test

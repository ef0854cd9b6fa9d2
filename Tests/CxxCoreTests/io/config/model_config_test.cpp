// io/model_config: the families' configurations are read with their defaults, and each bad key is refused by name.
#include "io/config/model_config.h"

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "base/json.h"
#include "io/config/rope.h"
#include "io/quantize/bad_row.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

const std::string kQwen3_5 = R"({
  "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5", "tie_word_embeddings": true,
  "auto_map": {"AutoModel": "evil.py"}, "model_file": "evil.py", "vision_config": {"hidden_size": -1},
  "text_config": {
    "model_type": "qwen3_5_text", "dtype": "bfloat16", "hidden_size": 1024, "intermediate_size": 3584,
    "num_hidden_layers": 24, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256,
    "vocab_size": 248320, "max_position_embeddings": 262144, "hidden_act": "silu", "rms_norm_eps": 1e-06,
    "linear_num_key_heads": 16, "linear_num_value_heads": 16, "linear_key_head_dim": 128,
    "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "full_attention_interval": 4,
    "attn_output_gate": true, "eos_token_id": 248044,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000000, "partial_rotary_factor": 0.25,
                        "mrope_section": [11, 11, 10], "mrope_interleaved": true}}})";

const std::string kQwen3_5Text = R"({
  "architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text", "hidden_size": 256,
  "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 1,
  "vocab_size": 4096, "eos_token_id": [1, 2], "rope_parameters": {"rope_theta": 1e6}})";

const std::string kQwen3 = R"({
  "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "attention_bias": false, "eos_token_id": 151645,
  "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072,
  "max_position_embeddings": 40960, "max_window_layers": 28, "num_attention_heads": 16, "num_hidden_layers": 28,
  "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000,
  "sliding_window": null, "tie_word_embeddings": true, "torch_dtype": "bfloat16", "use_sliding_window": false,
  "vocab_size": 151936})";

const std::string kQwen2 = R"({
  "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
  "num_attention_heads": 14, "num_key_value_heads": 2, "num_hidden_layers": 4, "vocab_size": 151936,
  "max_position_embeddings": 32768, "rope_theta": 1000000.0, "sliding_window": 100, "max_window_layers": 3,
  "use_sliding_window": true, "torch_dtype": "float16"})";

const std::string kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 576, "intermediate_size": 1536,
  "num_attention_heads": 9, "num_key_value_heads": 3, "num_hidden_layers": 30, "vocab_size": 49152,
  "max_position_embeddings": 8192, "rms_norm_eps": 1e-05, "rope_interleaved": false, "rope_scaling": null,
  "rope_theta": 100000, "tie_word_embeddings": true, "attention_bias": false, "mlp_bias": false})";

// `base` with `replacement` (a whole member, or nothing) in place of the member `key`, wherever it is nested; added at
// the front when absent.
std::string with(const std::string& base, const std::string& key, const std::string& value) {
  const std::string member = value.empty() ? "" : "\"" + key + "\": " + value;
  const size_t at = base.find("\"" + key + "\":");
  if (at == std::string::npos) return "{" + member + "," + base.substr(base.find('{') + 1);
  size_t end = at;
  for (int depth = 0; depth > 0 || (base[end] != ',' && base[end] != '}'); ++end) {
    depth += (base[end] == '[' || base[end] == '{') - (base[end] == ']' || base[end] == '}');
  }
  if (!member.empty()) return base.substr(0, at) + member + base.substr(end);
  return base[end] == ',' ? base.substr(0, at) + base.substr(end + 1)
                          : base.substr(0, base.rfind(',', at)) + base.substr(end);
}

Result<ModelConfig> parse(const std::string& json) { return parse_model_config(json, "config.json"); }

// For checks of one field; the defaults of ModelConfig after an error.
ModelConfig parsed(const std::string& json) { return parse(json).value.value_or(ModelConfig{}); }

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

PAGODA_TEST(model_config_reads_qwen3_5_with_a_nested_text_model) {
  const auto config = parse(kQwen3_5);
  REQUIRE_OK(config);
  CHECK(config->family == Family::qwen3_5);
  CHECK_EQ(config->architecture, "Qwen3_5ForConditionalGeneration");
  CHECK_EQ(config->tensor_prefix, "model.language_model.");
  CHECK(config->dtype == DType::bf16 && config->states_dtype);
  CHECK(config->tie_word_embeddings && config->qk_norm && config->zero_centered_norm && config->attention_gate);
  CHECK(!config->attention_bias && !config->attention_output_bias && !config->mlp_bias);
  CHECK_EQ(config->hidden_size, 1024);
  CHECK_EQ(config->head_dim, 256);
  CHECK_EQ(config->num_kv_heads, 2);
  CHECK_EQ(config->context_length, 262144);
  CHECK_EQ(config->rope.theta, 1e7);
  CHECK_EQ(config->rope.rotary_dim, 64);
  CHECK_EQ(config->linear_num_v_heads, 16);
  CHECK_EQ(config->linear_conv_kernel, 4);
  CHECK(config->eos_token_ids == std::vector<int32_t>{248044});
  REQUIRE(config->layers.size() == 24);
  for (size_t i = 0; i < 24; ++i) {
    CHECK(config->layers[i] == (i % 4 == 3 ? LayerKind::full_attention : LayerKind::linear_attention));
  }
}

PAGODA_TEST(model_config_fills_the_defaults_of_qwen3_5) {
  const auto config = parse(kQwen3_5Text);
  REQUIRE_OK(config);
  CHECK_EQ(config->tensor_prefix, "model.");
  CHECK_EQ(config->head_dim, 256);
  CHECK_EQ(config->context_length, 32768);
  CHECK_EQ(config->rope.rotary_dim, 64);
  CHECK_EQ(config->linear_num_k_heads, 16);
  CHECK_EQ(config->linear_num_v_heads, 32);
  CHECK_EQ(config->linear_k_head_dim, 128);
  CHECK(!config->tie_word_embeddings && !config->states_dtype && config->dtype == DType::f32);
  CHECK(config->eos_token_ids == (std::vector<int32_t>{1, 2}));
  CHECK(config->layers[3] == LayerKind::full_attention && config->layers[2] == LayerKind::linear_attention);
  const auto named = parse(with(kQwen3_5Text, "layer_types",
                                R"(["full_attention", "linear_attention", "full_attention", "linear_attention"])"));
  REQUIRE_OK(named);
  CHECK(named->layers[0] == LayerKind::full_attention && named->layers[3] == LayerKind::linear_attention);
}

PAGODA_TEST(model_config_reads_qwen3) {
  const auto config = parse(kQwen3);
  REQUIRE_OK(config);
  CHECK(config->family == Family::qwen3 && config->qk_norm && !config->zero_centered_norm && !config->attention_gate);
  CHECK_EQ(config->head_dim, 128);  // not hidden_size / num_heads
  CHECK_EQ(config->rope.rotary_dim, 128);
  CHECK_EQ(config->rope.theta, 1e6);
  CHECK(config->tie_word_embeddings && config->dtype == DType::bf16);
  CHECK_EQ(config->sliding_window, 0);
  for (LayerKind kind : config->layers) CHECK(kind == LayerKind::full_attention);
  CHECK_EQ(parsed(with(kQwen3, "head_dim", "")).head_dim, 128);
  const auto biased = parse(with(kQwen3, "attention_bias", "true"));
  REQUIRE_OK(biased);
  CHECK(biased->attention_bias && biased->attention_output_bias);
}

PAGODA_TEST(model_config_reads_qwen3_moe_and_its_defaults) {
  const std::string moe =
      with(with(kQwen3, "architectures", "[\"Qwen3MoeForCausalLM\"]"), "model_type", "\"qwen3_moe\"");
  const ModelConfig config = parsed(moe);
  CHECK(config.family == Family::qwen3_moe && config.qk_norm && !config.zero_centered_norm && !config.attention_gate);
  CHECK(config.num_experts == 128 && config.num_experts_per_token == 8 && config.expert_size == 768);
  CHECK(config.shared_expert_size == 0 && !config.norm_topk_prob);
  CHECK_EQ(parsed("{\"num_local_experts\": 60, " + moe.substr(moe.find('{') + 1)).num_experts, 60);
  CHECK_EQ(parsed(with(moe, "head_dim", "")).head_dim, 64);  // hidden_size / num_heads
  const auto with_first = [&](const std::string& member) {
    return "{" + member + ", " + moe.substr(moe.find('{') + 1);
  };
  const ModelConfig sliding = parsed(with(with(moe, "use_sliding_window", "true"), "sliding_window", "64"));
  CHECK_EQ(sliding.sliding_window, 64);
  for (LayerKind kind : sliding.layers) CHECK(kind == LayerKind::sliding_attention);
  for (int32_t layer = 0; layer < config.num_layers; ++layer) CHECK(config.has_mixture(layer));
  CHECK_EQ(config.intermediate_size, 0);  // of no layer
  const ModelConfig mixed = parsed(with_first(R"("decoder_sparse_step": 2, "mlp_only_layers": [3, 99])"));
  CHECK(!mixed.has_mixture(0) && mixed.has_mixture(1) && !mixed.has_mixture(2) && !mixed.has_mixture(3));
  CHECK(mixed.intermediate_size == 3072 && mixed.num_experts == 128);
  const ModelConfig none = parsed(with_first(R"("decoder_sparse_step": 1000)"));
  CHECK(none.num_experts == 0 && !none.has_mixture(0));
  test::check_row("step", parse(with_first(R"("decoder_sparse_step": 0)")).status, StatusCode::bad_file, "sparse_step");
  test::check_row("list", parse(with_first(R"("mlp_only_layers": 3)")).status, StatusCode::bad_file, "mlp_only_layers");
}

PAGODA_TEST(model_config_of_qwen3_5_moe_ignores_keys_that_its_class_never_reads) {
  const std::string moe =
      with(with(kQwen3, "architectures", "[\"Qwen3_5MoeForCausalLM\"]"), "model_type", "\"qwen3_5_moe_text\"");
  const ModelConfig config =
      parsed(R"({"norm_topk_prob": false, "decoder_sparse_step": 2, "mlp_only_layers": [0], )" + moe.substr(1));
  CHECK(config.norm_topk_prob && config.has_mixture(0) && config.has_mixture(1));
}

PAGODA_TEST(model_config_reads_qwen2_and_its_sliding_window) {
  const auto config = parse(kQwen2);
  REQUIRE_OK(config);
  CHECK(config->attention_bias && !config->attention_output_bias && !config->qk_norm);
  CHECK_EQ(config->head_dim, 64);
  CHECK(config->dtype == DType::f16);
  CHECK_EQ(config->sliding_window, 100);
  CHECK(config->layers[2] == LayerKind::full_attention && config->layers[3] == LayerKind::sliding_attention);
  const auto off = parse(with(kQwen2, "use_sliding_window", "false"));
  REQUIRE_OK(off);
  CHECK(off->sliding_window == 0 && off->layers[3] == LayerKind::full_attention);
  CHECK_EQ(parsed(with(kQwen2, "sliding_window", "")).sliding_window, 4096);
  CHECK(parsed(with(kQwen2, "sliding_window", "null")).layers[3] == LayerKind::full_attention);
  const auto named = parse(
      with(kQwen2, "layer_types", R"(["sliding_attention", "full_attention", "full_attention", "full_attention"])"));
  REQUIRE_OK(named);
  CHECK(named->layers[0] == LayerKind::sliding_attention && named->layers[3] == LayerKind::full_attention);
}

PAGODA_TEST(model_config_reads_llama_and_its_rope_scaling) {
  const auto config = parse(kLlama);
  REQUIRE_OK(config);
  CHECK(config->family == Family::llama && !config->qk_norm && config->tie_word_embeddings);
  CHECK_EQ(config->head_dim, 64);
  CHECK_EQ(config->rope.theta, 1e5);
  CHECK(config->rope.scaling == RopeConfig::Scaling::none);
  CHECK(config->eos_token_ids == std::vector<int32_t>{2});
  CHECK_EQ(parsed(with(kLlama, "num_key_value_heads", "")).num_kv_heads, 9);
  CHECK_EQ(parsed(with(kLlama, "rms_norm_eps", "")).rms_norm_eps, 1e-6f);
  CHECK(parsed(with(kLlama, "eos_token_id", "null")).eos_token_ids.empty());
  CHECK(parsed(with(with(kLlama, "mlp_bias", "true"), "attention_bias", "true")).mlp_bias);

  const std::string llama3 = R"("factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                                "original_max_position_embeddings": 8192, "rope_type": "llama3"})";
  const std::string old_style = with(kLlama, "rope_scaling", "{" + llama3);
  const std::string bare = with(kLlama, "rope_theta", "");
  const std::string new_style = with(bare, "rope_parameters", "{\"rope_theta\": 1e5, " + llama3);
  const std::string by_kind =
      with(bare, "rope_parameters", "{\"full_attention\": {\"rope_theta\": 1e5, " + llama3 + "}");
  for (const std::string& text : {old_style, new_style, by_kind}) {
    const auto scaled = parse(text);
    REQUIRE_OK(scaled);
    CHECK(scaled->rope.scaling == RopeConfig::Scaling::llama3);
    CHECK_EQ(scaled->rope.theta, 1e5);
    CHECK_EQ(scaled->rope.factor, 32.0);
    CHECK_EQ(scaled->rope.low_freq_factor, 1.0);
    CHECK_EQ(scaled->rope.high_freq_factor, 4.0);
    CHECK_EQ(scaled->rope.original_context, 8192);
  }
  const auto linear = parse(with(kLlama, "rope_scaling", R"({"type": "linear", "factor": 2})"));
  REQUIRE_OK(linear);
  CHECK(linear->rope.scaling == RopeConfig::Scaling::linear && linear->rope.factor == 2.0);
}

PAGODA_TEST(model_config_reads_yarn_and_dynamic_scaling) {
  const ModelConfig yarn = parsed(
      with(kQwen3, "rope_scaling", R"({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768})"));
  CHECK(yarn.rope.scaling == io::RopeConfig::Scaling::yarn && yarn.rope.original_context == 32768);
  CHECK_EQ(yarn.context_length, 131072);
  CHECK(std::abs(yarn.rope.attention_factor - (0.1 * std::log(4.0) + 1.0)) < 1e-12);
  CHECK(yarn.sliding_rope == yarn.rope);
  const int32_t context = parsed(kQwen3).context_length;
  const ModelConfig dynamic = parsed(with(kQwen3, "rope_scaling", R"({"rope_type": "dynamic", "factor": 2.0})"));
  CHECK(dynamic.rope.depends_on_position() && dynamic.rope.original_context == context);
  CHECK_EQ(dynamic.context_length, 2 * context);
}

PAGODA_TEST(model_config_takes_a_scaling_that_the_file_does_not_have) {
  const ModelConfig plain = parsed(kQwen3);
  ModelConfig config = plain;
  REQUIRE_OK(io::set_rope_scaling("yarn:4", config));
  CHECK(config.rope.scaling == io::RopeConfig::Scaling::yarn && config.rope.factor == 4.0);
  CHECK(config.context_length == 4 * plain.context_length && config.rope.theta == plain.rope.theta);
  config = plain;
  REQUIRE_OK(io::set_rope_scaling("yarn:4:32768", config));
  CHECK(config.rope.original_context == 32768 && config.context_length == 131072);
  REQUIRE_OK(io::set_rope_scaling("none", config));
  CHECK(config.rope == plain.rope);
  config = plain;
  REQUIRE_OK(io::set_rope_scaling("linear:2", config));
  CHECK_EQ(config.context_length, 2 * plain.context_length);
  for (const char* choice : {"", "yarn", "yarn:", "yarn:0.5", "yarn:4:", "yarn:4:x", "yarn:4:1:2", "llama3:8", "ntk:2",
                             "yarn:nan", "yarn:1e99", "yarn:4:0", ":4"}) {
    ModelConfig other = plain;
    test::check_row(choice, io::set_rope_scaling(choice, other), StatusCode::invalid_argument, "rope scaling");
    CHECK(other.rope == plain.rope && other.context_length == plain.context_length);
  }
}

PAGODA_TEST(model_config_reads_mistral_phi3_and_gemma3) {
  const auto as = [](const char* architecture, const char* type) {
    return with(with(with(kLlama, "architectures", std::string("[\"") + architecture + "\"]"), "model_type",
                     std::string("\"") + type + "\""),
                "rope_scaling", "");
  };
  const ModelConfig mistral = parsed(as("MistralForCausalLM", "mistral"));
  CHECK(mistral.family == Family::mistral && mistral.sliding_window == 4096 && !mistral.attention_bias);
  for (LayerKind kind : mistral.layers) CHECK(kind == LayerKind::sliding_attention);
  const ModelConfig phi3 = parsed(as("Phi3ForCausalLM", "phi3"));
  CHECK(phi3.family == Family::phi3 && phi3.is_fused && phi3.sliding_window == 0);
  const ModelConfig gemma = parsed(as("Gemma3ForCausalLM", "gemma3_text"));
  CHECK(gemma.family == Family::gemma3 && gemma.gelu && gemma.has_four_norms && gemma.zero_centered_norm);
  REQUIRE(gemma.layers.size() > 5);
  CHECK(gemma.layers[4] == LayerKind::sliding_attention && gemma.layers[5] == LayerKind::full_attention);
  CHECK_EQ(gemma.attention_scale, 1.0f / 16);
  CHECK(gemma.sliding_rope.theta == 1e4 && gemma.rope != gemma.sliding_rope);
}

PAGODA_TEST(model_config_reads_kimi_linear) {
  const std::string kimi = R"({"architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear",
    "hidden_size": 64, "num_hidden_layers": 5, "intermediate_size": 96, "num_attention_heads": 4, "vocab_size": 32,
    "kv_lora_rank": 48, "qk_nope_head_dim": 24, "qk_rope_head_dim": 16, "v_head_dim": 32, "model_max_length": 5000,
    "linear_attn_config": {"head_dim": 20, "num_heads": 3, "full_attn_layers": [3, 5], "kda_layers": [1, 2, 4]},
    "num_experts": 8, "num_experts_per_token": 2, "num_shared_experts": 2, "moe_intermediate_size": 40,
    "num_expert_group": 4, "topk_group": 2, "moe_renormalize": false, "rope_theta": 500.0})";
  const ModelConfig config = parsed(kimi);
  CHECK(config.family == Family::kimi_linear && config.has_latents() && config.channel_decay && config.rope.is_off);
  CHECK(config.q_lora_rank == 0 && config.latent_dim() == 64 && config.context_length == 5000);
  CHECK(config.linear_num_k_heads == 3 && config.linear_num_v_heads == 3 && config.linear_k_head_dim == 20);
  CHECK(config.linear_v_head_dim == 20 && config.linear_conv_kernel == 4 && config.rms_norm_eps == 1e-5f);
  CHECK(config.layers[2] == LayerKind::full_attention && config.layers[3] == LayerKind::linear_attention);
  CHECK(!config.has_mixture(0) && config.has_mixture(1) && config.shared_expert_size == 80 && config.sigmoid_router);
  CHECK(config.num_expert_groups == 4 && config.groups_per_token == 2 && !config.norm_topk_prob);
  CHECK_EQ(config.expert_scale, 2.446f);
  const ModelConfig plain = parsed(with(kimi, "linear_attn_config", ""));
  CHECK(plain.layers[3] == LayerKind::linear_attention && plain.layers[4] == LayerKind::full_attention);
  CHECK(plain.linear_num_v_heads == 32 && plain.linear_v_head_dim == 128);

  struct Row {
    const char *key, *value, *word;
  };
  for (const Row& row : {Row{"mla_use_nope", "false", "mla_use_nope"},
                         {"moe_router_activation_func", R"("softmax")", "moe_router_activation_func"},
                         {"moe_layer_freq", "2", "moe_layer_freq"},
                         {"num_expert_group", "3", "num_expert_group"},
                         {"num_experts_per_token", "9", "num_experts_per_token"},
                         {"linear_attn_config", "7", "linear_attn_config"},
                         {"linear_attn_config", R"({"full_attn_layers": [6], "kda_layers": [1]})", "full_attn_layers"},
                         {"linear_attn_config", R"({"full_attn_layers": [3], "kda_layers": [1]})", "every layer"},
                         {"mlp_layer_types", R"(["dense"])", "mlp_layer_types"}}) {
    const Status status = parse(with(kimi, row.key, row.value)).status;
    CHECK(!status.is_ok() && status.message.find(row.word) != std::string::npos);
  }
}

PAGODA_TEST(model_config_reads_latent_attention) {
  const std::string deepseek = R"({"architectures": ["DeepseekV2ForCausalLM"], "model_type": "deepseek_v2",
    "hidden_size": 64, "num_hidden_layers": 3, "intermediate_size": 96, "num_attention_heads": 4, "vocab_size": 32,
    "q_lora_rank": null, "kv_lora_rank": 48, "qk_nope_head_dim": 24, "qk_rope_head_dim": 16, "v_head_dim": 32,
    "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 40, "n_shared_experts": 2,
    "first_k_dense_replace": 1, "n_group": 4, "topk_group": 2, "routed_scaling_factor": 2.0, "head_dim": 99,
    "max_position_embeddings": 4096, "rope_scaling": {"type": "yarn", "factor": 4, "mscale": 0.7, "mscale_all_dim": 0.7,
    "original_max_position_embeddings": 1024}})";
  const ModelConfig config = parsed(deepseek);
  CHECK(config.family == Family::deepseek_v2 && config.has_latents() && config.rope_interleaved);
  CHECK(config.kv_lora_rank == 48 && config.q_lora_rank == 0 && config.head_dim == 16 && config.latent_dim() == 64);
  CHECK(config.nope_head_dim == 24 && config.v_head_dim == 32 && config.num_kv_heads == 1);
  CHECK(config.rope.rotary_dim == 16 && config.rope.mscale_all_dim == 0.7 && config.rope.attention_factor == 1.0);
  CHECK(!config.has_mixture(0) && config.has_mixture(1) && config.shared_expert_size == 80 && !config.sigmoid_router);
  CHECK(config.num_expert_groups == 1 && config.expert_scale == 2.0f && !config.norm_topk_prob);  // topk_method: greedy
  const ModelConfig grouped = parsed(with(deepseek, "topk_method", R"("group_limited_greedy")"));
  CHECK(grouped.num_expert_groups == 4 && grouped.groups_per_token == 2);

  const auto as = [&](const char* architecture, const char* type) {
    return with(with(deepseek, "architectures", std::string("[\"") + architecture + "\"]"), "model_type",
                std::string("\"") + type + "\"");
  };
  const ModelConfig v3 = parsed(as("DeepseekV3ForCausalLM", "deepseek_v3"));
  CHECK(v3.sigmoid_router && v3.norm_topk_prob && v3.num_expert_groups == 4 && v3.rope_interleaved);
  CHECK(!parsed(with(as("DeepseekV3ForCausalLM", "deepseek_v3"), "rope_interleave", "false")).rope_interleaved);
  const ModelConfig glm = parsed(as("Glm4MoeLiteForCausalLM", "glm4_moe_lite"));
  CHECK(!glm.has_mixture(0) && glm.has_mixture(2) && glm.rms_norm_eps == 1e-5f);
  const ModelConfig mini = parsed(with(as("MiniCPM3ForCausalLM", "minicpm3"), "scale_depth", "null"));
  CHECK(mini.num_experts == 0 && mini.embedding_scale == 12.0f && mini.residual_scale == 1.0f);
  CHECK(mini.logits_scale == 4.0f && mini.tie_word_embeddings && !mini.rope_interleaved);

  struct Row {
    const char *key, *value, *word;
  };
  for (const Row& row : {Row{"attention_bias", "true", "attention_bias"},
                         {"kv_lora_rank", "40", "multiples of 16"},
                         {"v_head_dim", "24", "multiples of 16"},
                         {"num_key_value_heads", "2", "num_key_value_heads"},
                         {"topk_method", R"("noaux_tc")", "topk_method"},
                         {"scoring_func", R"("sigmoid")", "scoring_func"},
                         {"moe_layer_freq", "2", "moe_layer_freq"},
                         {"qk_rope_head_dim", "15", "qk_rope_head_dim"}}) {
    const Status status = parse(with(deepseek, row.key, row.value)).status;
    CHECK(!status.is_ok() && status.message.find(row.word) != std::string::npos);
  }
  const Status few =
      parse(with(with(deepseek, "topk_method", R"("group_limited_greedy")"), "num_experts_per_tok", "5")).status;
  CHECK(!few.is_ok() && few.message.find("topk_group") != std::string::npos);
}

PAGODA_TEST(model_config_lists_what_is_supported_when_it_refuses_an_architecture) {
  const Status status = parse(with(kQwen3, "architectures", R"(["FalconForCausalLM"])")).status;
  CHECK(status.code == StatusCode::unsupported);
  for (const char* word : {"'FalconForCausalLM'", "Qwen3_5ForCausalLM", "LlamaForCausalLM", "Gemma3ForCausalLM"})
    CHECK(status.message.find(word) != std::string::npos);
}

PAGODA_TEST(model_config_finds_the_family_by_model_type_alone) {
  const auto config = parse(with(kQwen3, "architectures", ""));
  REQUIRE_OK(config);
  CHECK_EQ(config->architecture, "Qwen3ForCausalLM");
  CHECK_OK(parse(with(kQwen3, "architectures", "[]")));
  CHECK_OK(parse(with(kQwen3, "model_type", "")));
}

PAGODA_TEST(model_config_refuses_each_bad_config) {
  struct Row {
    const char* name;
    std::string json;
    const char* message;
    StatusCode code = StatusCode::bad_file;
  };
  constexpr StatusCode kUnsupported = StatusCode::unsupported;
  const auto q = [](const char* key, const char* value) { return with(kQwen3, key, value); };
  const auto h = [](const char* key, const char* value) { return with(kQwen3_5, key, value); };
  const auto l = [](const char* key, const char* value) { return with(kLlama, key, value); };
  const Row rows[] = {
      {"empty", "", "expected a value at byte 0"},
      {"list", "[]", "is not a JSON object"},
      {"cut", kQwen3.substr(0, 100), "at byte"},
      {"duplicate key", "{\"hidden_size\": 1024, " + kQwen3.substr(1), "duplicate key 'hidden_size'"},
      {"no architecture", "{}", "architectures names no architecture"},
      {"architectures is a string", q("architectures", "\"Qwen3ForCausalLM\""), "architectures is not a list"},
      {"architectures of numbers", q("architectures", "[3]"), "names no architecture"},
      {"other architecture", q("architectures", "[\"GPT2LMHeadModel\"]"), "'GPT2LMHeadModel'", kUnsupported},
      {"mixture of experts", q("architectures", "[\"Qwen2MoeForCausalLM\"]"), "'Qwen2MoeForCausalLM'", kUnsupported},
      {"unknown model_type", with(q("architectures", ""), "model_type", "\"mamba\""), "'mamba'", kUnsupported},
      {"model_type of another family", q("model_type", "\"llama\""), "'llama' does not belong to Qwen3ForCausalLM"},
      {"no text_config", with(kQwen3_5, "text_config", ""), "text_config is not an object"},
      {"text_config is a list", with(kQwen3_5, "text_config", "[]"), "text_config is not an object"},
      {"no hidden_size", q("hidden_size", ""), "hidden_size is missing"},
      {"null hidden_size", q("hidden_size", "null"), "hidden_size is missing"},
      {"negative hidden_size", q("hidden_size", "-1024"), "hidden_size is not an integer from 1 to 1048576"},
      {"zero hidden_size", q("hidden_size", "0"), "hidden_size is not an integer"},
      {"huge hidden_size", q("hidden_size", "1099511627776"), "hidden_size is not an integer"},
      {"hidden_size beyond int64", q("hidden_size", "99999999999999999999"), "hidden_size is not an integer"},
      {"float hidden_size", q("hidden_size", "1024.0"), "hidden_size is not an integer"},
      {"string hidden_size", q("hidden_size", "\"1024\""), "hidden_size is not an integer"},
      {"no intermediate_size", q("intermediate_size", ""), "intermediate_size is missing"},
      {"no layers", q("num_hidden_layers", ""), "num_hidden_layers is missing"},
      {"zero layers", q("num_hidden_layers", "0"), "num_hidden_layers is not an integer from 1 to 4096"},
      {"negative layers", q("num_hidden_layers", "-1"), "num_hidden_layers is not an integer"},
      {"huge layers", q("num_hidden_layers", "2147483647"), "num_hidden_layers is not an integer"},
      {"zero heads", q("num_attention_heads", "0"), "num_attention_heads is not an integer"},
      {"heads that kv heads do not divide", q("num_key_value_heads", "3"), "3 does not divide num_attention_heads 16"},
      {"more kv heads than heads", q("num_key_value_heads", "32"), "does not divide"},
      {"zero kv heads", q("num_key_value_heads", "0"), "num_key_value_heads is not an integer"},
      {"heads that do not divide", with(kLlama, "num_attention_heads", "7"), "does not divide"},
      {"no head_dim to derive", with(l("num_attention_heads", "10"), "num_key_value_heads", "5"), "hidden_size 576"},
      {"huge head_dim", q("head_dim", "1025"), "head_dim is not an integer from 1 to 1024"},
      {"odd head_dim", q("head_dim", "127"), "not an even number"},
      {"no vocabulary", q("vocab_size", ""), "vocab_size is missing"},
      {"huge vocabulary", q("vocab_size", "16777217"), "vocab_size is not an integer"},
      {"vocabulary smaller than eos", q("vocab_size", "151645"), "eos_token_id has a token id"},
      {"negative eos", q("eos_token_id", "-1"), "eos_token_id has a token id"},
      {"eos of strings", q("eos_token_id", "[1, \"2\"]"), "eos_token_id has a token id"},
      {"negative context", q("max_position_embeddings", "-1"), "max_position_embeddings is not an integer"},
      {"eps is zero", q("rms_norm_eps", "0"), "rms_norm_eps is not a number"},
      {"eps is a string", q("rms_norm_eps", "\"1e-6\""), "rms_norm_eps is not a number"},
      {"NaN theta", q("rope_theta", "NaN"), "expected a value at byte"},
      {"NaN theta as a string", q("rope_theta", "\"NaN\""), "rope_theta is not a number"},
      {"infinite theta", q("rope_theta", "1e999"), "number outside double"},
      {"negative theta", q("rope_theta", "-1"), "rope_theta is not a number"},
      {"theta zero in the dictionary", h("rope_theta", "0"), "text_config: rope_parameters: rope_theta"},
      {"rope_scaling is a string", q("rope_scaling", "\"yarn\""), "rope_scaling is not an object"},
      {"another", q("rope_scaling", R"({"type": "resonance", "factor": 4.0})"), "rope_type 'resonance'", kUnsupported},
      {"yarn by 0", q("rope_scaling", R"({"type": "yarn", "factor": 0.0})"), "factor is not a number"},
      {"dynamic without factor", q("rope_scaling", R"({"rope_type": "dynamic"})"), "factor is missing"},
      {"longrope", l("rope_scaling", R"({"rope_type": "longrope"})"), "rope_type 'longrope'", kUnsupported},
      {"linear without factor", l("rope_scaling", R"({"rope_type": "linear"})"), "factor is missing"},
      {"linear with factor 0", l("rope_scaling", R"({"rope_type": "linear", "factor": 0})"), "factor is not a number"},
      {"llama3 without factors", l("rope_scaling", R"({"rope_type": "llama3", "factor": 8})"), "factor is missing"},
      {"llama3 with equal factors",
       l("rope_scaling", R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 4})"),
       "high_freq_factor is not above low_freq_factor"},
      {"rope differs by kind",
       q("rope_parameters", R"({"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}})"),
       "differs between kinds of layers", kUnsupported},
      {"rope by kind is a number", q("rope_parameters", R"({"full_attention": 3})"), "that is not an object"},
      {"rotary factor 0", h("partial_rotary_factor", "0"), "partial_rotary_factor is not a number"},
      {"rotary factor 2", h("partial_rotary_factor", "2"), "partial_rotary_factor is not a number"},
      {"odd rotary dims", h("partial_rotary_factor", "0.043"), "give 11"},
      {"partial rotary Llama", l("partial_rotary_factor", "0.5"), "is not supported", kUnsupported},
      {"interval 0", h("full_attention_interval", "0"), "text_config: full_attention_interval is not"},
      {"negative interval", h("full_attention_interval", "-4"), "full_attention_interval is not an integer"},
      {"too few layer_types", with(kQwen3_5Text, "layer_types", "[\"full_attention\"]"), "num_hidden_layers (4)"},
      {"linear kernel 0", h("linear_conv_kernel_dim", "0"), "linear_conv_kernel_dim is not an integer"},
      {"linear heads 0", h("linear_num_key_heads", "0"), "linear_num_key_heads is not an integer"},
      {"linear heads that do not divide", h("linear_num_value_heads", "17"), "17 is not a multiple of"},
      {"no output gate", h("attn_output_gate", "false"), "attn_output_gate", kUnsupported},
      {"layer_types is a string", q("layer_types", "\"full_attention\""), "layer_types is not a list"},
      {"layer_types too short", q("layer_types", "[\"full_attention\"]"), "num_hidden_layers (28)"},
      {"layer_types of numbers", with(kQwen2, "layer_types", "[1, 2, 3, 4]"), "has an entry that is not a string"},
      {"linear layer in Qwen2",
       with(kQwen2, "layer_types", R"(["full_attention","linear_attention","full_attention","full_attention"])"),
       "'linear_attention'", kUnsupported},
      {"sliding layer without window",
       with(with(kQwen2, "use_sliding_window", "false"), "layer_types",
            R"(["full_attention","sliding_attention","full_attention","full_attention"])"),
       "no sliding_window is in use"},
      {"window 0", with(kQwen2, "sliding_window", "0"), "sliding_window is not an integer"},
      {"gelu", q("hidden_act", "\"gelu\""), "hidden_act 'gelu' is not supported", kUnsupported},
      {"quantized", q("quantization_config", R"({"quant_method": "gptq", "bits": 3, "group_size": 7})"),
       "quantization_config is present: quantized weights 'gptq'", kUnsupported},
      {"group 0", q("quantization", R"({"group_size": 0, "bits": 4})"), "group_size 0 is not supported"},
      {"group 7", q("quantization", R"({"group_size": 7, "bits": 4})"), "group_size 7 is not supported"},
      {"7 bits", q("quantization", R"({"group_size": 64, "bits": 7})"), "bits 7 is not supported"},
      {"quantization is a list", q("quantization", "[4]"), "quantization is present", kUnsupported},
      {"float8", q("torch_dtype", "\"float8_e4m3fn\""), "torch_dtype 'float8_e4m3fn' is not supported", kUnsupported},
      {"dtype is a number", q("torch_dtype", "16"), "torch_dtype is not a string"},
      {"tie is a string", q("tie_word_embeddings", "\"yes\""), "tie_word_embeddings is neither true nor false"},
  };
  for (const Row& row : rows) {
    const Status status = parse(row.json).status;
    test::check_row(row.name, status, row.code, row.message);
    test::check_row(row.name, status, row.code, "config.json: ");
  }
}

PAGODA_TEST(model_config_reads_the_embedded_model) {
  const auto config = parse(read_file(test::mini_model_dir() + "/config.json"));
  REQUIRE_OK(config);
  CHECK(config->family == Family::qwen3_5 && !config->states_dtype && config->tie_word_embeddings);
  CHECK_EQ(config->num_layers, 8);
  CHECK_EQ(config->rope.rotary_dim, 64);
  CHECK(config->layers[3] == LayerKind::full_attention && config->layers[4] == LayerKind::linear_attention);
  CHECK(config->eos_token_ids == std::vector<int32_t>{4089});
}

PAGODA_TEST(model_config_reads_eos_of_generation_config) {
  const auto ids = [](const char* text) { return parse_eos_token_ids(text, "generation_config.json"); };
  CHECK(ids("{\"eos_token_id\": 7}").value == std::vector<int32_t>{7});
  CHECK(ids("{\"eos_token_id\": [7, 8]}").value == (std::vector<int32_t>{7, 8}));
  CHECK(ids("{\"eos_token_id\": null}").value == std::vector<int32_t>{});
  CHECK(ids("{}").value == std::vector<int32_t>{});
  for (const char* bad : {"{\"eos_token_id\": \"7\"}", "{\"eos_token_id\": [7, -1]}", "{\"eos_token_id\": 2147483648}",
                          "{\"eos_token_id\": [[7]]}", "[]", "{"}) {
    test::check_row(bad, ids(bad).status, StatusCode::bad_file, "generation_config.json: ");
  }
}

PAGODA_TEST(model_config_survives_truncation_and_random_mutations) {
  std::mt19937_64 random(test::seed(31));
  const std::string* bases[] = {&kQwen3_5, &kQwen3_5Text, &kQwen3, &kQwen2, &kLlama};
  int accepted = 0;
  for (const std::string* base : bases) {
    REQUIRE_OK(parse(*base));
    for (size_t n = 0; n < base->size(); ++n) CHECK(!parse(base->substr(0, n)).is_ok());
    for (int round = 0; round < 2000; ++round) {
      std::string text = *base;
      const std::string alphabet = "0123456789-.e\"[]{},ntf";
      for (uint64_t n = 1 + random() % 3; n > 0; --n) {
        text[random() % text.size()] = alphabet[random() % alphabet.size()];
      }
      const auto config = parse(text);
      if (!config.is_ok()) continue;
      ++accepted;
      CHECK_EQ(static_cast<int32_t>(config->layers.size()), config->num_layers);
      CHECK(config->num_heads % config->num_kv_heads == 0 && config->rope.rotary_dim % 2 == 0 && config->head_dim > 0);
    }
  }
  test::note("accepted " + std::to_string(accepted));
  CHECK(accepted > 50);
}

}  // namespace pagoda::io

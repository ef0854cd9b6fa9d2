// io/model_config: the configurations of the families are read with their defaults.
#include "io/config/model_config.h"

#include <cmath>
#include <string>

#include "base/concat.h"
#include "io/config/configs.h"
#include "io/config/rope.h"
#include "io/quantize/bad_row.h"
#include "support/test.h"

namespace pagoda::io {

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
  CHECK_EQ(config.intermediate_size, 0);  // no layer has it
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

// The message names what the file has, and everything that it could have.
PAGODA_TEST(model_config_refuses_other_families_with_a_list_of_the_supported_ones) {
  for (const char* key : {"architectures", "model_type"})
    for (const char* name : {"GraniteMoeHybridForCausalLM", "granitemoehybrid", "qwen4", "Mamba2ForCausalLM"}) {
      const std::string text = concat(R"({")", key, std::string_view(key) == "architectures" ? R"(": [")" : R"(": ")",
                                      name, std::string_view(key) == "architectures" ? R"("]})" : R"("})");
      const Status status = parse(text).status;
      CHECK(status.code == StatusCode::unsupported);
      for (const char* word : {name, "Qwen3_5ForCausalLM", "KimiLinearForCausalLM", "OlmoHybridForCausalLM"})
        CHECK(status.message.find(word) != std::string::npos);
    }
}

PAGODA_TEST(model_config_reads_the_text_of_qwen3_omni) {
  const std::string thinker = R"({"model_type": "qwen3_omni_moe_thinker", "dtype": "bfloat16",
    "text_config": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 32, "vocab_size": 96,
      "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 24,
      "rope_scaling": {"rope_type": "default", "interleaved": true, "mrope_section": [6, 5, 5]}, "rope_theta": 1e6},
    "vision_config": {"depth": 2}, "audio_config": {}})";
  const std::string omni =
      R"({"architectures": ["Qwen3OmniMoeForConditionalGeneration"], "model_type": "qwen3_omni_moe",
    "thinker_config": )" +
      thinker + R"(, "talker_config": {}, "code2wav_config": {}})";
  const ModelConfig config = parsed(omni);
  CHECK(config.family == Family::qwen3_moe && config.qk_norm && config.norm_topk_prob && config.num_experts == 8);
  CHECK(config.head_dim == 32 && config.num_kv_heads == 4 && config.rope.theta == 1e6 && config.dtype == DType::bf16);
  CHECK(!config.vision.is_present() && !config.tie_word_embeddings && config.sliding_window == 0);
  for (const char* word : {"images and audio", "Qwen3OmniMoeForConditionalGeneration"})
    CHECK(config.vision.refusal.find(word) != std::string::npos);
  const ModelConfig alone = parsed(thinker);
  CHECK(alone.family == Family::qwen3_moe && alone.tensor_prefix == "model." && alone.head_dim == 32);
  for (const char* wrong : {"7", "null", R"({"text_config": 7})"}) {
    const Status status = parse(with(omni, "thinker_config", wrong)).status;
    CHECK(!status.is_ok() && status.message.find("_config") != std::string::npos);
  }
}

PAGODA_TEST(model_config_reads_olmo_hybrid) {
  const std::string olmo = R"({"architectures": ["OlmoHybridForCausalLM"], "model_type": "olmo_hybrid",
    "hidden_size": 64, "num_hidden_layers": 5, "intermediate_size": 96, "num_attention_heads": 4, "vocab_size": 32,
    "rms_norm_eps": 1e-6, "rope_theta": null})";
  const ModelConfig config = parsed(olmo);
  CHECK(config.family == Family::olmo_hybrid && config.rope.is_off && config.norms_outputs && config.norms_all_heads);
  CHECK(!config.zero_centered_norm && !config.attention_gate && !config.channel_decay && config.head_dim == 16);
  CHECK(config.linear_num_k_heads == 4 && config.linear_num_v_heads == 4 && config.linear_k_head_dim == 12);
  CHECK(config.linear_v_head_dim == 24 && config.linear_conv_kernel == 4 && config.context_length == 65536);
  CHECK(config.linear_beta_scale == 2.0f && config.linear_norm_eps == 1e-5f && config.rms_norm_eps == 1e-6f);
  CHECK(config.layers[3] == LayerKind::full_attention && config.layers[4] == LayerKind::linear_attention);
  CHECK(!parsed(with(olmo, "rope_theta", "500.0")).rope.is_off);
  CHECK(!parsed(with(olmo, "rope_theta", "")).rope.is_off);
  CHECK(parsed(with(olmo, "rope_parameters", R"({"rope_type": "default", "rope_theta": null})")).rope.is_off);
  CHECK_EQ(parsed(with(olmo, "linear_allow_neg_eigval", "false")).linear_beta_scale, 1.0f);
  CHECK(parsed(with(olmo, "num_hidden_layers", "2")).layers[1] == LayerKind::full_attention);
  struct Row {
    const char *key, *value, *word;
  };
  for (const Row& row : {Row{"linear_num_value_heads", "6", "linear_num_value_heads"},
                         {"num_hidden_layers", "1", "layer_types"},
                         {"layer_types", R"(["sliding_attention"])", "layer_types"}}) {
    const Status status = parse(with(olmo, row.key, row.value)).status;
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

}  // namespace pagoda::io

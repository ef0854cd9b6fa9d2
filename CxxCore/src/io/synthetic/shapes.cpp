// The table of shapes, and its rows as config.json.
#include "io/synthetic/shapes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/quoted.h"

namespace pagoda::io {
namespace {

// Keys shared by all members of a family.
struct FamilyKeys {
  std::string_view architecture, model_type;
  std::string_view more;          // further members of the object, each with a trailing comma
  std::string_view eos = "null";  // null: answers do not end before their limit
};

constexpr FamilyKeys kQwen35 = {"Qwen3_5ForCausalLM", "qwen3_5_text",
                                R"("rms_norm_eps": 1e-6, "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
 "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25},)"};
constexpr FamilyKeys kQwen3 = {"Qwen3ForCausalLM", "qwen3", R"("rms_norm_eps": 1e-6, "rope_theta": 1e6,)"};
constexpr FamilyKeys kQwen2 = {"Qwen2ForCausalLM", "qwen2", R"("rms_norm_eps": 1e-6, "rope_theta": 1e6,)"};
constexpr FamilyKeys kLlama32 = {"LlamaForCausalLM", "llama", R"("rms_norm_eps": 1e-5, "rope_theta": 5e5,
 "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
  "original_max_position_embeddings": 8192},)"};
constexpr FamilyKeys kSmolLM2 = {"LlamaForCausalLM", "llama", R"("rms_norm_eps": 1e-5, "rope_theta": 1e5,)"};

constexpr FamilyKeys kMistral = {"MistralForCausalLM", "mistral",
                                 R"("rms_norm_eps": 1e-5, "rope_theta": 1e6, "sliding_window": null,)"};
constexpr FamilyKeys kPhi3 = {"Phi3ForCausalLM", "phi3",
                              R"("rms_norm_eps": 1e-5, "rope_theta": 1e4, "sliding_window": 2047,)"};
constexpr FamilyKeys kGemma3 = {"Gemma3ForCausalLM", "gemma3_text",
                                R"("rms_norm_eps": 1e-6, "rope_theta": 1e6, "rope_local_base_freq": 1e4,
 "sliding_window": 512, "sliding_window_pattern": 6, "query_pre_attn_scalar": 256,)"};
constexpr FamilyKeys kQwen3Moe = {"Qwen3MoeForCausalLM", "qwen3_moe", R"("rms_norm_eps": 1e-6, "rope_theta": 1e6,
 "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "norm_topk_prob": true,)"};
constexpr FamilyKeys kQwen35Moe = {"Qwen3_5MoeForCausalLM", "qwen3_5_moe_text",
                                   R"("rms_norm_eps": 1e-6, "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
 "num_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
 "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25},)"};
constexpr FamilyKeys kQwen3Next = {"Qwen3NextForCausalLM", "qwen3_next",
                                   R"("rms_norm_eps": 1e-6, "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
 "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
 "rope_theta": 1e7, "partial_rotary_factor": 0.25, "norm_topk_prob": true,)"};

constexpr FamilyKeys kDeepSeekV2 = {"DeepseekV2ForCausalLM", "deepseek_v2", R"("rms_norm_eps": 1e-6, "rope_theta": 1e4,
 "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 0.707, "mscale_all_dim": 0.707, "beta_fast": 32, "beta_slow": 1,
  "original_max_position_embeddings": 4096},
 "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
 "n_routed_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "n_shared_experts": 2,
 "first_k_dense_replace": 1, "topk_method": "greedy", "routed_scaling_factor": 1.0,)"};
constexpr FamilyKeys kDeepSeekV3 = {"DeepseekV3ForCausalLM", "deepseek_v3", R"("rms_norm_eps": 1e-5, "rope_theta": 5e4,
 "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
 "n_routed_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "n_shared_experts": 2,
 "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "norm_topk_prob": true, "routed_scaling_factor": 2.446,)"};
constexpr FamilyKeys kGlm4MoeLite = {"Glm4MoeLiteForCausalLM", "glm4_moe_lite",
                                     R"("rms_norm_eps": 1e-5, "rope_theta": 1e6,
 "q_lora_rank": 768, "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
 "n_routed_experts": 64, "num_experts_per_tok": 4, "moe_intermediate_size": 1536, "n_shared_experts": 1,
 "n_group": 1, "topk_group": 1, "norm_topk_prob": true, "routed_scaling_factor": 1.8,)"};
constexpr FamilyKeys kMiniCpm3 = {"MiniCPM3ForCausalLM", "minicpm3", R"("rms_norm_eps": 1e-5, "rope_theta": 1e4,
 "q_lora_rank": 768, "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "v_head_dim": 64,
 "scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 256,)"};
constexpr FamilyKeys kKimiLinear = {"KimiLinearForCausalLM", "kimi_linear", R"("rms_norm_eps": 1e-5,
 "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
 "linear_attn_config": {"head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4,
  "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
  "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26]},
 "num_experts": 256, "num_experts_per_token": 8, "moe_intermediate_size": 1024, "num_shared_experts": 1,
 "first_k_dense_replace": 1, "num_expert_group": 1, "topk_group": 1, "moe_renormalize": true,
 "routed_scaling_factor": 2.446,)"};

constexpr FamilyKeys kOlmoHybrid = {"OlmoHybridForCausalLM", "olmo_hybrid", R"("rms_norm_eps": 1e-6, "rope_theta": null,
 "linear_num_key_heads": 30, "linear_num_value_heads": 30, "linear_key_head_dim": 96, "linear_value_head_dim": 192,
 "linear_conv_kernel_dim": 4, "linear_allow_neg_eigval": true,)"};

// As published for Qwen3.8-Flash-Next, whose table of n-grams is another 51 billion parameters.
constexpr FamilyKeys kQwen4Exp = {"Qwen4ExpForCausalLM", "qwen4_exp_text",
                                  R"("rms_norm_eps": 1e-6, "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
 "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 640, "shared_expert_intermediate_size": 640,
 "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25},
 "hc_count": 4, "hc_lowrank": 320, "indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 128,
 "indexer_budget": 2048, "indexer_compress_ratio": 4, "ple_layer_ids": [2], "split_ngram_parts": 128,
 "output_gate_type": "sigmoid",)",
                                  "248044"};

struct Shape {
  std::string_view name;
  const FamilyKeys& family;
  int32_t hidden, layers, ffn, heads, kv_heads, head_dim;
  int32_t linear_v_heads, linear_k_heads, linear_head_dim;  // 0 without recurrent layers
  int32_t vocab, context;
  bool is_tied;
};

constexpr Shape kShapes[] = {
    {"qwen3.5-0.8b", kQwen35, 1024, 24, 3584, 8, 2, 256, 16, 16, 128, 248320, 262144, true},
    {"qwen3.5-2b", kQwen35, 2048, 24, 6144, 8, 2, 256, 16, 16, 128, 248320, 262144, true},
    {"qwen3.5-4b", kQwen35, 2560, 32, 9216, 16, 4, 256, 32, 16, 128, 248320, 262144, true},
    {"qwen3.5-9b", kQwen35, 4096, 32, 12288, 16, 4, 256, 32, 16, 128, 248320, 262144, false},
    {"qwen3.5-27b", kQwen35, 5120, 64, 17408, 24, 4, 256, 48, 16, 128, 248320, 262144, false},
    {"qwen3-0.6b", kQwen3, 1024, 28, 3072, 16, 8, 128, 0, 0, 0, 151936, 40960, true},
    {"qwen3-1.7b", kQwen3, 2048, 28, 6144, 16, 8, 128, 0, 0, 0, 151936, 40960, true},
    {"qwen3-4b", kQwen3, 2560, 36, 9728, 32, 8, 128, 0, 0, 0, 151936, 40960, true},
    {"qwen3-8b", kQwen3, 4096, 36, 12288, 32, 8, 128, 0, 0, 0, 151936, 40960, false},
    {"qwen2.5-0.5b", kQwen2, 896, 24, 4864, 14, 2, 64, 0, 0, 0, 151936, 32768, true},
    {"llama-3.2-1b", kLlama32, 2048, 16, 8192, 32, 8, 64, 0, 0, 0, 128256, 131072, true},
    {"smollm2-135m", kSmolLM2, 576, 30, 1536, 9, 3, 64, 0, 0, 0, 49152, 8192, true},
    {"qwen3.5-35b-a3b", kQwen35Moe, 2048, 40, 512, 16, 2, 256, 32, 16, 128, 248320, 262144, false},
    {"qwen3-next-80b-a3b", kQwen3Next, 2048, 48, 5120, 16, 2, 256, 32, 16, 128, 151936, 262144, false},
    {"qwen3-30b-a3b", kQwen3Moe, 2048, 48, 6144, 32, 4, 128, 0, 0, 0, 151936, 40960, false},
    {"mistral-7b", kMistral, 4096, 32, 14336, 32, 8, 128, 0, 0, 0, 32768, 32768, false},
    {"phi-3-mini", kPhi3, 3072, 32, 8192, 32, 32, 96, 0, 0, 0, 32064, 4096, false},
    {"gemma-3-1b", kGemma3, 1152, 26, 6912, 4, 1, 256, 0, 0, 0, 262144, 32768, true},
    {"deepseek-v2-lite", kDeepSeekV2, 2048, 27, 10944, 16, 16, 64, 0, 0, 0, 102400, 163840, false},
    {"moonlight-16b-a3b", kDeepSeekV3, 2048, 27, 11264, 16, 16, 64, 0, 0, 0, 163840, 8192, false},
    {"glm-4.7-flash", kGlm4MoeLite, 2048, 47, 10240, 20, 20, 64, 0, 0, 0, 154880, 202752, false},
    {"kimi-linear-48b-a3b", kKimiLinear, 2304, 27, 9216, 32, 32, 72, 0, 0, 0, 163840, 1048576, false},
    {"minicpm3-4b", kMiniCpm3, 2560, 62, 6400, 40, 40, 32, 0, 0, 0, 73448, 32768, true},
    {"olmo-hybrid-7b", kOlmoHybrid, 3840, 32, 11008, 30, 30, 128, 0, 0, 0, 100352, 65536, false},
    {"qwen3.8-flash-next-125b-a6b", kQwen4Exp, 2560, 48, 640, 24, 2, 256, 48, 16, 128, 248320, 262144, false},
    {"tiny", kQwen35, 128, 4, 256, 4, 2, 32, 4, 2, 32, 512, 4096, true},  // not a real model: for tests and experiments
};

std::string config_json(const Shape& shape) {
  std::string json = "{\"architectures\": [\"" + std::string(shape.family.architecture) + "\"],\n \"model_type\": \"" +
                     std::string(shape.family.model_type) + "\",\n " + std::string(shape.family.more) + "\n";
  std::vector<std::pair<const char*, int32_t>> sizes = {
      {"hidden_size", shape.hidden},
      {"num_hidden_layers", shape.layers},
      {"intermediate_size", shape.ffn},
      {"num_attention_heads", shape.heads},
      {"num_key_value_heads", shape.kv_heads},
      {"head_dim", shape.head_dim},
      {"vocab_size", shape.vocab},
      {"max_position_embeddings", shape.context},
  };
  if (shape.linear_v_heads > 0) {
    sizes.insert(sizes.end(), {{"linear_num_value_heads", shape.linear_v_heads},
                               {"linear_num_key_heads", shape.linear_k_heads},
                               {"linear_value_head_dim", shape.linear_head_dim},
                               {"linear_key_head_dim", shape.linear_head_dim}});
  }
  for (const auto& [key, size] : sizes) json += concat(" \"", key, "\": ", size, ",\n");
  return json + " \"tie_word_embeddings\": " + (shape.is_tied ? "true" : "false") +
         ",\n \"eos_token_id\": " + std::string(shape.family.eos) + ", \"dtype\": \"bfloat16\"}\n";
}

}  // namespace

std::string shape_names() {
  std::string names;
  for (const Shape& shape : kShapes) names += (names.empty() ? "" : ", ") + std::string(shape.name);
  return names;
}

Result<std::string> shape_config_json(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& shape) { return shape.name == name; });
  if (found == std::end(kShapes)) {
    return make_error(StatusCode::invalid_argument,
                      "there is no shape " + io::quoted(name) + "; known shapes are " + shape_names());
  }
  return config_json(*found);
}

}  // namespace pagoda::io

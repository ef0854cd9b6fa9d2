// config.json to ModelConfig. Defaults and rules are those of the families' configuration classes in transformers.
#include "io/config/model_config.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/json.h"
#include "base/quoted.h"
#include "io/config/family_keys.h"
#include "io/config/fields.h"
#include "io/config/limits.h"
#include "io/config/rope.h"
#include "io/quantize/tensors.h"

namespace pagoda::io {
namespace {

constexpr JsonLimits kJsonLimits = {.max_depth = 64, .max_values = 1'000'000};

struct Architecture {
  std::string_view name;
  std::string_view model_type;
  std::string_view tensor_prefix;
  Family family;
  bool is_nested;        // the text model is described by text_config
  int32_t num_kv_heads;  // defaults when the key is absent: 0 = as many as query heads
  int32_t head_dim;      // 0 = hidden_size / num_heads
  int32_t context_length;
};

constexpr Architecture kArchitectures[] = {
    {"Qwen3_5ForConditionalGeneration", "qwen3_5", "model.language_model.", Family::qwen3_5, true, 4, 256, 32768},
    {"Qwen3_5ForCausalLM", "qwen3_5_text", "model.", Family::qwen3_5, false, 4, 256, 32768},
    {"Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe", "model.language_model.", Family::qwen3_5_moe, true, 2, 256,
     32768},
    {"Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", "model.", Family::qwen3_5_moe, false, 2, 256, 32768},
    {"Qwen4ExpForConditionalGeneration", "qwen4_exp", "model.language_model.", Family::qwen4_exp, true, 2, 256, 32768},
    {"Qwen4ExpForCausalLM", "qwen4_exp_text", "model.", Family::qwen4_exp, false, 2, 256, 32768},
    {"Qwen3VLForConditionalGeneration", "qwen3_vl", "model.language_model.", Family::qwen3, true, 32, 128, 128000},
    {"Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", "model.language_model.", Family::qwen3_moe, true, 16, 0,
     128000},
    {"Qwen3OmniMoeForConditionalGeneration", "qwen3_omni_moe", "model.", Family::qwen3_moe, true, 4, 0, 32768},
    {"Qwen3OmniMoeThinkerForConditionalGeneration", "qwen3_omni_moe_thinker", "model.", Family::qwen3_moe, true, 4, 0,
     32768},
    {"Qwen3NextForCausalLM", "qwen3_next", "model.", Family::qwen3_next, false, 2, 256, 32768},
    {"Qwen3MoeForCausalLM", "qwen3_moe", "model.", Family::qwen3_moe, false, 4, 0, 32768},
    {"Qwen3ForCausalLM", "qwen3", "model.", Family::qwen3, false, 32, 128, 32768},
    {"Qwen2ForCausalLM", "qwen2", "model.", Family::qwen2, false, 32, 0, 32768},
    {"LlamaForCausalLM", "llama", "model.", Family::llama, false, 0, 0, 2048},
    {"MistralForCausalLM", "mistral", "model.", Family::mistral, false, 8, 0, 131072},
    {"Phi3ForCausalLM", "phi3", "model.", Family::phi3, false, 0, 0, 4096},
    {"Gemma3ForCausalLM", "gemma3_text", "model.", Family::gemma3, false, 4, 256, 131072},
    {"DeepseekV2ForCausalLM", "deepseek_v2", "model.", Family::deepseek_v2, false, 0, 0, 2048},
    {"DeepseekV3ForCausalLM", "deepseek_v3", "model.", Family::deepseek_v3, false, 0, 0, 4096},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", "model.", Family::glm4_moe_lite, false, 0, 0, 202752},
    {"MiniCPM3ForCausalLM", "minicpm3", "model.", Family::minicpm3, false, 0, 0, 32768},
    {"KimiLinearForCausalLM", "kimi_linear", "model.", Family::kimi_linear, false, 0, 0, 1048576},
    {"OlmoHybridForCausalLM", "olmo_hybrid", "model.", Family::olmo_hybrid, false, 0, 0, 65536},
};

std::string architecture_names() {
  std::string names;
  for (const Architecture& known : kArchitectures) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

// Looks up architectures[0], or model_type if there is none. Returns null after an error.
const Architecture* find_architecture(ConfigFields& root) {
  const Json* names = root.find("architectures");
  const std::string model_type = root.string("model_type", "");
  if (names != nullptr && !names->is_array()) root.fail("architectures", "is not a list");
  if (!root.is_ok()) return nullptr;
  const bool is_named = names != nullptr && !names->items().empty();
  const std::string& wanted = is_named ? names->items()[0].as_string() : model_type;
  const auto* found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                   [&](const Architecture& a) { return (is_named ? a.name : a.model_type) == wanted; });
  if (found == std::end(kArchitectures)) {
    root.check(!wanted.empty(), "architectures", "names no architecture");
    root.fail(is_named ? "architectures" : "model_type",
              "names " + io::quoted(wanted) + ", which is not supported; supported are " + architecture_names(),
              StatusCode::unsupported);
    return nullptr;
  }
  const bool fits = model_type.empty() || model_type == found->model_type ||
                    (found->family == Family::qwen3_5 && model_type == "qwen3_5") ||
                    (found->family == Family::qwen3_5_moe && model_type == "qwen3_5_moe");
  root.check(fits, "model_type", io::quoted(model_type) + " does not belong to " + std::string(found->name));
  return root.is_ok() ? found : nullptr;
}

void read_sizes(ConfigFields& text, const Architecture& architecture, ModelConfig& config) {
  config.hidden_size = text.integer("hidden_size", 1, kMaxHiddenSize);
  config.num_layers = text.integer("num_hidden_layers", 1, kMaxLayers);
  if (config.traits().mixture != Mixture::none) read_experts(text, config);
  else config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediateSize);
  config.num_heads = text.integer("num_attention_heads", 1, kMaxHeads);
  config.vocab_size = text.integer("vocab_size", 1, kMaxVocabSize);
  config.draft_vocab_size =
      text.integer("draft_vocab_size", 1, kMaxVocabSize, std::min(config.vocab_size, config.draft_vocab_size));
  config.draft_vocab_size = std::min(config.draft_vocab_size, config.vocab_size);
  config.context_length = text.integer("max_position_embeddings", 1, kMaxContextLength, architecture.context_length);
  if (config.family == Family::kimi_linear)
    config.context_length = text.integer("model_max_length", 1, kMaxContextLength, config.context_length);
  config.num_kv_heads = text.integer("num_key_value_heads", 1, kMaxHeads,
                                     architecture.num_kv_heads > 0 ? architecture.num_kv_heads : config.num_heads);
  text.check(config.num_heads % config.num_kv_heads == 0, "num_key_value_heads",
             concat(config.num_kv_heads, " does not divide num_attention_heads ", config.num_heads));
  if (config.traits().has_latents) read_latents(text, config);
  else config.head_dim = text.integer("head_dim", 1, kMaxHeadDim, architecture.head_dim);
  if (config.head_dim == 0) {
    config.head_dim = config.hidden_size / config.num_heads;
    text.check(config.hidden_size % config.num_heads == 0 && config.head_dim <= kMaxHeadDim, "num_attention_heads",
               concat(config.num_heads, " does not divide hidden_size ", config.hidden_size, " into heads of at most ",
                      kMaxHeadDim));
  }
  config.rms_norm_eps = static_cast<float>(text.number("rms_norm_eps", 1e-12, 1.0, config.traits().rms_norm_eps));
}

void read_activation(ConfigFields& text, ModelConfig& config) {
  config.gelu = config.family == Family::gemma3;
  const char* key = config.gelu ? "hidden_activation" : "hidden_act";
  const char* only = config.gelu ? "gelu_pytorch_tanh" : "silu";
  const std::string activation = text.string(key, only);
  if (activation != only)
    text.fail(key, io::quoted(activation) + " is not supported, only " + only, StatusCode::unsupported);
}

// Settings of Gemma 3 beyond those of a decoder like Qwen3.
void read_gemma_traits(ConfigFields& text, ModelConfig& config) {
  config.has_four_norms = true;
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden_size));
  const double scalar = text.number("query_pre_attn_scalar", 1e-6, 1e9, 256.0);
  config.attention_scale = static_cast<float>(1.0 / std::sqrt(scalar));
  if (text.number("final_logit_softcapping", 0.0, 1e9, 0.0) != 0.0)
    text.fail("final_logit_softcapping", "is not supported", StatusCode::unsupported);
  if (text.boolean("use_bidirectional_attention", false))
    text.fail("use_bidirectional_attention", "true is not supported", StatusCode::unsupported);
}

void read_biases(ConfigFields& text, ModelConfig& config) {
  const FamilyTraits& traits = config.traits();
  const bool has_bias = text.boolean("attention_bias", false);
  if (has_bias && traits.has_latents)
    text.fail("attention_bias", "true is not supported for " + config.architecture, StatusCode::unsupported);
  config.attention_output_bias = traits.attention_bias == AttentionBias::by_key && has_bias;
  config.attention_bias = traits.attention_bias == AttentionBias::inputs || config.attention_output_bias;
  const bool has_mlp_bias = traits.mlp_bias != MlpBias::ignored && text.boolean("mlp_bias", false);
  if (has_mlp_bias && traits.mlp_bias == MlpBias::refused)
    text.fail("mlp_bias", "true is not supported for " + config.architecture, StatusCode::unsupported);
  config.mlp_bias = has_mlp_bias;
}

// The sizes of Gated DeltaNet.
void read_delta_net(ConfigFields& text, ModelConfig& config) {
  if (!text.boolean("attn_output_gate", true))
    text.fail("attn_output_gate", "false is not supported", StatusCode::unsupported);
  config.linear_num_k_heads = text.integer("linear_num_key_heads", 1, kMaxHeads, 16);
  config.linear_num_v_heads = text.integer("linear_num_value_heads", 1, kMaxHeads, 32);
  config.linear_k_head_dim = text.integer("linear_key_head_dim", 1, kMaxHeadDim, 128);
  config.linear_v_head_dim = text.integer("linear_value_head_dim", 1, kMaxHeadDim, 128);
  config.linear_conv_kernel = text.integer("linear_conv_kernel_dim", 2, kMaxConvKernel, 4);
  text.check(
      config.linear_num_v_heads % config.linear_num_k_heads == 0, "linear_num_value_heads",
      concat(config.linear_num_v_heads, " is not a multiple of linear_num_key_heads ", config.linear_num_k_heads));
}

void read_family_traits(ConfigFields& text, ModelConfig& config) {
  const FamilyTraits& traits = config.traits();
  read_biases(text, config);
  config.qk_norm = traits.has_qk_norm;
  config.zero_centered_norm = traits.has_zero_centered_norm;
  config.attention_gate = traits.linear_layers == LinearLayers::gated_delta_net;
  config.is_fused = traits.is_fused;
  config.attention_scale = 1.0f / std::sqrt(static_cast<float>(config.head_dim));
  config.linear_norm_eps = config.rms_norm_eps;
  if (config.family == Family::gemma3) read_gemma_traits(text, config);
  if (traits.has_latents) read_latent_traits(text, config);
  switch (traits.linear_layers) {
    case LinearLayers::none: break;
    case LinearLayers::gated_delta_net: read_delta_net(text, config); break;
    case LinearLayers::kimi_delta: read_kimi_traits(text, config); break;
    case LinearLayers::olmo: read_olmo_traits(text, config); break;
  }
}

// Reads layer_types, entry by entry; only kinds that the family has.
void read_layer_types(ConfigFields& text, const Json& names, ModelConfig& config) {
  const bool may_slide = config.traits().window != Window::none;
  const bool may_be_linear = config.traits().linear_layers != LinearLayers::none;
  if (!names.is_array() || static_cast<int64_t>(names.items().size()) != config.num_layers) {
    text.fail("layer_types", concat("is not a list of num_hidden_layers (", config.num_layers, ") names"));
    return;
  }
  for (const Json& name : names.items()) {
    text.check(name.is_string(), "layer_types", "has an entry that is not a string");
    const std::string& kind = name.as_string();
    const bool is_indexed = kind == "indexed_attention" && config.family == Family::qwen4_exp;
    if (kind == "full_attention" || is_indexed) config.layers.push_back(LayerKind::full_attention);
    else if (kind == "sliding_attention" && may_slide) config.layers.push_back(LayerKind::sliding_attention);
    else if (kind == "linear_attention" && may_be_linear) config.layers.push_back(LayerKind::linear_attention);
    else
      text.fail("layer_types", "names " + io::quoted(kind) + ", which is not supported for " + config.architecture,
                StatusCode::unsupported);
  }
}

// Without layer_types: Qwen3.5 has full attention every n-th layer; Qwen2 and 3 use sliding windows from
// max_window_layers on, Qwen3-MoE everywhere.
void read_layers(ConfigFields& text, ModelConfig& config) {
  const FamilyTraits& traits = config.traits();
  const bool has_pattern = traits.window == Window::pattern, all_slide = traits.window == Window::all_layers;
  const int32_t interval = text.integer("full_attention_interval", 1, kMaxLayers, 4);
  const int32_t first_sliding = text.integer("max_window_layers", 0, INT32_MAX, 28);
  const int32_t pattern = has_pattern ? text.integer("sliding_window_pattern", 1, INT32_MAX, 6) : 1;
  const bool has_window =
      traits.window != Window::none && (!traits.may_have_no_window || text.boolean("use_sliding_window", false));
  if (has_window)  // null means none, absent means the default
    config.sliding_window =
        text.integer("sliding_window", 1, INT32_MAX, text.has("sliding_window") ? 0 : traits.default_window);
  const bool is_hybrid = traits.linear_layers != LinearLayers::none;
  const bool may_name = !all_slide && (is_hybrid || !traits.has_latents);
  const Json* names = may_name ? text.find("layer_types") : nullptr;
  if (names != nullptr) {
    read_layer_types(text, *names, config);
  } else if (traits.linear_layers == LinearLayers::kimi_delta) {
    config.layers = read_kimi_layers(text, config);
  } else if (traits.linear_layers == LinearLayers::olmo) {
    config.layers = default_olmo_layers(config.num_layers);
  } else {
    for (int32_t layer = 0; layer < config.num_layers; ++layer) {
      const bool is_linear = is_hybrid && (layer + 1) % interval != 0;
      const bool is_sliding =
          has_pattern ? (layer + 1) % pattern != 0 : config.sliding_window > 0 && (all_slide || layer >= first_sliding);
      config.layers.push_back(is_linear    ? LayerKind::linear_attention
                              : is_sliding ? LayerKind::sliding_attention
                                           : LayerKind::full_attention);
    }
  }
  if (traits.linear_layers == LinearLayers::olmo) check_olmo_layers(text, config);
  const bool slides = std::count(config.layers.begin(), config.layers.end(), LayerKind::sliding_attention) > 0;
  text.check(!slides || config.sliding_window > 0, "layer_types",
             "has sliding_attention, but no sliding_window is in use");
}

void read_dtype(ConfigFields& fields, ModelConfig& config) {
  const char* key = fields.find("dtype") != nullptr ? "dtype" : "torch_dtype";
  if (config.states_dtype || fields.find(key) == nullptr) return;
  const std::string name = fields.string(key, "");
  for (DType type : {DType::f32, DType::f16, DType::bf16}) {
    if (name == dtype_name(type)) config.dtype = type, config.states_dtype = true;
  }
  if (!config.states_dtype) fields.fail(key, io::quoted(name) + " is not supported", StatusCode::unsupported);
}

// Ids outside the vocabulary are refused here: masks and bans are indexed by them.
void read_eos(ConfigFields& text, ConfigFields& root, ModelConfig& config) {
  ConfigFields& fields = text.find("eos_token_id") != nullptr ? text : root;
  config.eos_token_ids = fields.ids("eos_token_id", config.vocab_size - 1);
  if (root.has("eos_token_id")) return;
  const int32_t eos = config.traits().eos_token_id;
  if (eos >= 0 && eos < config.vocab_size) config.eos_token_ids = {eos};
}

Result<Json> parse_object(std::string_view json, const std::string& file_name) {
  auto parsed = parse_json(json, kJsonLimits);
  if (!parsed.is_ok()) return make_error(parsed.status.code, file_name + ": " + parsed.status.message);
  if (!parsed->is_object()) return make_error(StatusCode::bad_file, file_name + ": is not a JSON object");
  return parsed;
}

}  // namespace

Result<ModelConfig> parse_model_config(std::string_view json, const std::string& file_name) {
  PAGODA_ASSIGN_OR_RETURN(const auto parsed, parse_object(json, file_name));
  ConfigFields root(parsed, file_name);
  const Architecture* architecture = find_architecture(root);
  if (architecture == nullptr) return root.status();

  const bool may_nest =
      architecture->is_nested || architecture->family == Family::qwen3_5 || architecture->family == Family::qwen3_5_moe;
  // Qwen3-Omni: the thinker, whose text is read; the talker and the towers of images and audio are not.
  const bool has_thinker = architecture->model_type == "qwen3_omni_moe";
  const bool is_omni = has_thinker || architecture->model_type == "qwen3_omni_moe_thinker";
  const Json* thinker = has_thinker ? root.find("thinker_config") : &parsed;
  root.check(thinker != nullptr && thinker->is_object(), "thinker_config", "is not an object");
  if (!root.is_ok()) return root.status();
  ConfigFields outer(*thinker, has_thinker ? file_name + ": thinker_config" : file_name);
  const Json* nested = may_nest ? outer.find("text_config") : nullptr;
  if (architecture->is_nested || nested != nullptr) {
    outer.check(nested != nullptr && nested->is_object(), "text_config", "is not an object");
    if (!outer.is_ok()) return outer.status();
  }
  ConfigFields text(nested != nullptr ? *nested : parsed,
                    nested != nullptr ? outer.where() + ": text_config" : file_name);

  ModelConfig config;
  config.family = architecture->family;
  config.architecture = architecture->name;
  config.tensor_prefix = architecture->tensor_prefix;
  check_quantization(root);
  check_quantization(text);
  read_sizes(text, *architecture, config);
  read_activation(text, config);
  read_family_traits(text, config);
  read_layers(text, config);
  config.rope = read_rope_config(text, config, LayerKind::full_attention);
  config.sliding_rope = read_rope_config(text, config, LayerKind::sliding_attention);
  if (config.family == Family::qwen4_exp) read_streams(text, config);
  config.context_length = scaled_context(config.rope, config.context_length);
  config.tie_word_embeddings =
      outer.boolean("tie_word_embeddings", text.boolean("tie_word_embeddings", config.traits().ties_embeddings));
  read_dtype(text, config);
  read_dtype(outer, config);
  read_dtype(root, config);
  read_eos(text, root, config);
  if (is_omni) config.vision.refusal = "images and audio are not supported for " + config.architecture;
  else config.vision = read_vision_config(root, text, config);
  PAGODA_RETURN_IF_ERROR(outer.status());
  PAGODA_RETURN_IF_ERROR(root.status());
  PAGODA_RETURN_IF_ERROR(text.status());
  return config;
}

std::string tensor_prefix(const Json& config) {
  ConfigFields root(config, "");
  const Architecture* architecture = find_architecture(root);
  return std::string(architecture != nullptr ? architecture->tensor_prefix : "model.");
}

Result<std::vector<int32_t>> parse_eos_token_ids(std::string_view generation_config_json, const std::string& file_name,
                                                 int32_t vocab_size) {
  PAGODA_ASSIGN_OR_RETURN(const auto parsed, parse_object(generation_config_json, file_name));
  ConfigFields fields(parsed, file_name);
  auto ids = fields.ids("eos_token_id", vocab_size - 1);
  if (!fields.is_ok()) return fields.status();
  return ids;
}

}  // namespace pagoda::io

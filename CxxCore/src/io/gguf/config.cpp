// Metadata of a GGUF file as config.json.
#include "io/gguf/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/quoted.h"
#include "io/gguf/families.h"
#include "io/gguf/keys.h"
#include "io/gguf/vision.h"

namespace pagoda::io {
namespace {

constexpr Architecture kArchitectures[] = {
    {"qwen35", "Qwen3_5ForCausalLM", "qwen3_5_text", true, false},
    {"qwen35moe", "Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", true, true},
    {"qwen3next", "Qwen3NextForCausalLM", "qwen3_next", true, true},
    {"qwen4exp", "Qwen4ExpForCausalLM", "qwen4_exp_text", true, true},
    {"qwen3vl", "Qwen3ForCausalLM", "qwen3", false, false},
    {"qwen3vlmoe", "Qwen3MoeForCausalLM", "qwen3_moe", false, true},
    {"qwen3moe", "Qwen3MoeForCausalLM", "qwen3_moe", false, true},
    {"qwen3", "Qwen3ForCausalLM", "qwen3", false, false},
    {"qwen2", "Qwen2ForCausalLM", "qwen2", false, false},
    {"llama", "LlamaForCausalLM", "llama", false, false},
    {"phi3", "Phi3ForCausalLM", "phi3", false, false},
    {"gemma3", "Gemma3ForCausalLM", "gemma3_text", false, false},
    {"deepseek2", "DeepseekV2ForCausalLM", "deepseek_v2", false, true},  // V3 and GLM-4.7-Flash too: see add_deepseek()
    {"minicpm3", "MiniCPM3ForCausalLM", "minicpm3", false, false},
    {"kimi-linear", "KimiLinearForCausalLM", "kimi_linear", false, true},
};

Result<Keys> open_keys(std::span<const Gguf> parts) {
  const Gguf& gguf = parts.front();
  const auto name = gguf.string("general.architecture");
  if (!name) return make_error(StatusCode::bad_file, gguf.file()->name() + ": general.architecture is missing");
  std::string names;
  for (const Architecture& known : kArchitectures) {
    if (known.name == *name) return Keys(parts, known);
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return make_error(StatusCode::unsupported, gguf.file()->name() + ": architecture " + io::quoted(*name) +
                                                 " is not supported; supported are " + names);
}

GgufShape shape_of(Keys& keys) {
  GgufShape shape;
  shape.architecture = keys.architecture().name;
  shape.num_heads = keys.positive("attention.head_count");
  if (shape.architecture == "deepseek2" || shape.architecture == "minicpm3" ||
      shape.architecture == "kimi-linear") {  // all heads share one row of the cache
    shape.head_dim = keys.positive("rope.dimension_count");
    shape.num_kv_heads = shape.num_heads;
    return shape;
  }
  shape.num_kv_heads = keys.positive("attention.head_count_kv", shape.num_heads);
  const int64_t hidden = keys.positive("embedding_length");
  shape.head_dim = keys.positive("attention.key_length", hidden / std::max<int64_t>(shape.num_heads, 1));
  if (keys.positive("attention.value_length", shape.head_dim) != shape.head_dim)
    keys.fail(keys.prefix() + "attention.value_length", "is not that of the keys");
  if (!keys.architecture().is_hybrid) return shape;
  shape.has_tiled_v_heads = shape.architecture != "qwen3next";
  shape.num_k_heads = keys.positive("ssm.group_count");
  shape.num_v_heads = keys.positive("ssm.time_step_rank");
  shape.k_head_dim = keys.positive("ssm.state_size");
  const int64_t inner = keys.positive("ssm.inner_size");
  shape.v_head_dim = inner / shape.num_v_heads;
  if (shape.v_head_dim == 0 || inner % shape.num_v_heads != 0)
    keys.fail(keys.prefix() + "ssm.inner_size", "is not a multiple of ssm.time_step_rank");
  if (shape.num_v_heads % shape.num_k_heads != 0)
    keys.fail(keys.prefix() + "ssm.time_step_rank", "is not a multiple of ssm.group_count");
  if (shape.architecture == "qwen4exp") shape.ngram_layer = find_ngram_layer(keys);
  return shape;
}

// Every token that ends an answer: those that the file lists, and those with a well-known name.
Json eos_ids(const Gguf& gguf) {
  std::vector<int64_t> ids;
  const auto add = [&](int64_t id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
    if (const auto id = gguf.integer(key)) add(*id);
  constexpr std::string_view kNames[] = {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"};
  const auto tokens = gguf.strings("tokenizer.ggml.tokens");
  for (size_t i = 0; tokens && i < tokens->size(); ++i)
    if (std::ranges::find(kNames, (*tokens)[i]) != std::end(kNames)) add(static_cast<int64_t>(i));
  std::vector<Json> list;
  for (int64_t id : ids) list.push_back(Json::make_integer(id));
  return Json::make_array(std::move(list));
}

// Llama 3 files contain a factor for each frequency instead of the rule that produced them. The rules of all published
// files are tried; others are refused.
Status add_frequency_factors(Keys& keys, const GgufShape& shape, double theta, Members& rope) {
  const auto [part, found] = keys.tensor("rope_freqs.weight");
  if (found == nullptr) return ok_status();
  const std::string who = part->file()->name() + ": rope_freqs.weight ";
  const GgufTensor& tensor = *found;
  const auto half = static_cast<size_t>(shape.head_dim / 2);
  if (tensor.type->name != "F32" || tensor.shape != std::vector<int64_t>{shape.head_dim / 2})
    return make_error(StatusCode::bad_file, concat(who, "is not a list of ", half, " floats"));
  std::vector<float> factors(half);
  PAGODA_RETURN_IF_ERROR(part->file()->read(tensor.offset_bytes, std::as_writable_bytes(std::span(factors))));
  constexpr double kLow = 1.0, kHigh = 4.0, kContext = 8192.0, kPi = 3.14159265358979323846;
  const double factor = factors.empty() ? 1.0 : factors.back();
  for (size_t i = 0; i < half; ++i) {
    const double turns =
        kContext / (2 * kPi * std::pow(theta, 2.0 * static_cast<double>(i) / static_cast<double>(2 * half)));
    const double smooth = std::clamp((turns - kLow) / (kHigh - kLow), 0.0, 1.0);
    const double expected = 1.0 / ((1.0 - smooth) / factor + smooth);
    if (!(std::abs(expected - factors[i]) <= 1e-3 * expected))
      return make_error(StatusCode::unsupported, who + "does not follow the rule of Llama 3");
  }
  rope.add("rope_type", std::string_view("llama3"));
  rope.add("factor", factor);
  rope.add("low_freq_factor", kLow);
  rope.add("high_freq_factor", kHigh);
  rope.add("original_max_position_embeddings", static_cast<int64_t>(kContext));
  return ok_status();
}

void add_scaling(Keys& keys, std::string_view scaling, Members& rope) {
  const auto number = [&](const char* key) { return keys.gguf().number(keys.prefix() + "rope.scaling." + key); };
  const double factor = number("factor").value_or(1.0);
  rope.add("rope_type", scaling);
  rope.add("factor", factor);
  if (keys.find("rope.scaling.original_context_length"))
    rope.add("original_max_position_embeddings", keys.positive("rope.scaling.original_context_length"));
  if (scaling != "yarn") return;
  double log_multiplier = number("yarn_log_multiplier").value_or(0.1);
  if (keys.architecture().name == "deepseek2") {  // the key is 0.1 mscale_all_dim; mscale is assumed to be equal
    rope.add("mscale", std::exchange(log_multiplier, 0.1) * 10.0);
    rope.add("mscale_all_dim", number("yarn_log_multiplier").value_or(0.1) * 10.0);
  }
  if (number("yarn_ext_factor").value_or(1.0) != 1.0 || log_multiplier != 0.1)
    keys.fail(keys.prefix() + "rope.scaling", "has YaRN factors that are not read");
  if (const auto fast = number("yarn_beta_fast")) rope.add("beta_fast", *fast);
  if (const auto slow = number("yarn_beta_slow")) rope.add("beta_slow", *slow);
  // This multiplies the attention factor that follows from `factor`.
  const auto attention =
      keys.gguf().has(keys.prefix() + "rope.scaling.attn_factor") ? number("attn_factor") : number("yarn_attn_factor");
  if (attention) rope.add("attention_factor", *attention * (factor > 1.0 ? 0.1 * std::log(factor) + 1.0 : 1.0));
}

// Phi-3: two factors for each frequency, one within the trained context and one past it.
Status add_longrope(Keys& keys, Members& rope) {
  rope.add("rope_type", std::string_view("longrope"));
  if (const auto factor = keys.gguf().number(keys.prefix() + "rope.scaling.attn_factor"))
    rope.add("attention_factor", *factor);
  for (const auto& [key, name] :
       {std::pair("short_factor", "rope_factors_short.weight"), std::pair("long_factor", "rope_factors_long.weight")}) {
    const auto [part, found] = keys.tensor(name);
    if (found == nullptr || found->type->name != "F32" || found->shape.size() != 1)
      return make_error(StatusCode::bad_file, keys.gguf().file()->name() + ": " + name + " is not a list of floats");
    std::vector<float> values(static_cast<size_t>(found->shape[0]));
    PAGODA_RETURN_IF_ERROR(part->file()->read(found->offset_bytes, std::as_writable_bytes(std::span(values))));
    std::vector<Json> list;
    for (float value : values) list.push_back(Json::make_real(value));
    rope.add(key, Json::make_array(std::move(list)));
  }
  return ok_status();
}

// Gemma 3: sliding layers have their own frequencies, which are not scaled.
Json by_kind(Keys& keys, Json full) {
  Members sliding, both;
  sliding.add("rope_theta", keys.gguf().number(keys.prefix() + "rope.freq_base_swa").value_or(10000.0));
  both.add("full_attention", std::move(full));
  both.add("sliding_attention", sliding.take());
  return both.take();
}

Status add_rope(Keys& keys, const GgufShape& shape, Members& config) {
  Members rope;
  const double theta = keys.gguf().number(keys.prefix() + "rope.freq_base").value_or(10000.0);
  rope.add("rope_theta", theta);
  const int64_t rotating = keys.positive("rope.dimension_count", shape.head_dim);
  if (rotating != shape.head_dim || keys.architecture().is_hybrid)
    rope.add("partial_rotary_factor", static_cast<double>(rotating) / static_cast<double>(shape.head_dim));
  // Of time, height and width; the fourth is 0.
  if (const auto sections = keys.gguf().integers(keys.prefix() + "rope.dimension_sections");
      sections && sections->size() >= 3) {
    std::vector<Json> three;
    for (size_t i = 0; i < 3; ++i) three.push_back(Json::make_integer((*sections)[i]));
    rope.add("mrope_section", Json::make_array(std::move(three)));
  }
  const std::string_view scaling = keys.gguf().string(keys.prefix() + "rope.scaling.type").value_or("none");
  if (keys.has_tensor("rope_factors_long.weight")) {
    PAGODA_RETURN_IF_ERROR(add_longrope(keys, rope));
  } else if (scaling != "none") {
    add_scaling(keys, scaling, rope);
  } else {
    PAGODA_RETURN_IF_ERROR(add_frequency_factors(keys, shape, theta, rope));
  }
  config.add("rope_parameters", keys.architecture().name == "gemma3" ? by_kind(keys, rope.take()) : rope.take());
  return ok_status();
}

// Float files keep their type; values of quantised files are in half precision, unless --quantize packs them.
std::string_view dtype_of(const GgufTensor& embedding) noexcept {
  return embedding.type->name == "F32" ? "float32" : embedding.type->name == "BF16" ? "bfloat16" : "float16";
}

}  // namespace

Result<GgufShape> read_gguf_shape(const Gguf& gguf) {
  PAGODA_ASSIGN_OR_RETURN(auto keys, open_keys({&gguf, 1}));
  GgufShape shape = shape_of(keys);
  if (!keys.status().is_ok()) return keys.status();
  return shape;
}

Result<std::string> gguf_config_json(std::span<const Gguf> parts, const Gguf* vision) {
  PAGODA_ASSIGN_OR_RETURN(auto opened, open_keys(parts));
  Keys& keys = opened;
  const Gguf& gguf = parts.front();
  const GgufShape shape = shape_of(keys);
  const GgufTensor* embedding = keys.tensor("token_embd.weight").tensor;
  if (embedding == nullptr)
    return make_error(StatusCode::bad_file, gguf.file()->name() + ": tensor token_embd.weight is missing");
  Members config;
  const bool is_deepseek = keys.architecture().name == "deepseek2";
  const bool is_kimi = keys.architecture().name == "kimi-linear";
  const bool has_sigmoid = (is_deepseek || is_kimi) && has_sigmoid_router(keys),
             is_sigmoid = is_deepseek && has_sigmoid;
  const std::string_view name = is_sigmoid ? "DeepseekV3ForCausalLM" : keys.architecture().hugging_face;
  config.add("architectures", Json::make_array({Json::make_string(std::string(name))}));
  config.add("model_type", is_sigmoid ? std::string_view("deepseek_v3") : keys.architecture().model_type);
  config.add("dtype", dtype_of(*embedding));
  config.add("vocab_size", embedding->shape.front());
  config.add("hidden_size", keys.positive("embedding_length"));
  if (is_deepseek) add_deepseek(keys, shape, is_sigmoid, config);
  else if (is_kimi) add_kimi(keys, shape, has_sigmoid, config);
  else if (keys.architecture().name == "minicpm3") add_minicpm3(keys, shape, config);
  else if (keys.architecture().has_experts) add_experts(keys, config);
  else config.add("intermediate_size", keys.positive("feed_forward_length"));
  config.add("num_hidden_layers", keys.positive("block_count") - keys.find("nextn_predict_layers").value_or(0));
  config.add("num_attention_heads", shape.num_heads);
  config.add("num_key_value_heads", shape.num_kv_heads);
  config.add("head_dim", shape.head_dim);
  config.add("max_position_embeddings", keys.positive("context_length"));
  config.add("rms_norm_eps", gguf.number(keys.prefix() + "attention.layer_norm_rms_epsilon").value_or(1e-6));
  config.add("tie_word_embeddings", !keys.has_tensor("output.weight"));
  if (keys.architecture().name == "llama" && keys.has_tensor("blk.0.attn_q.bias")) {
    config.add("attention_bias", true);
    config.add("mlp_bias", keys.has_tensor("blk.0.ffn_up.bias"));
  }
  if (keys.architecture().name == "phi3" || keys.architecture().name == "gemma3") add_windows(keys, shape, config);
  if (keys.architecture().is_hybrid) {
    config.add("linear_num_key_heads", shape.num_k_heads);
    config.add("linear_num_value_heads", shape.num_v_heads);
    config.add("linear_key_head_dim", shape.k_head_dim);
    config.add("linear_value_head_dim", shape.v_head_dim);
    config.add("linear_conv_kernel_dim", keys.positive("ssm.conv_kernel"));
    add_layer_types(keys, config);
    if (keys.architecture().name == "qwen4exp") add_streams(keys, config);
  }
  PAGODA_RETURN_IF_ERROR(add_rope(keys, shape, config));
  if (vision != nullptr) add_vision(*vision, gguf, config);
  config.add("eos_token_id", eos_ids(gguf));
  PAGODA_RETURN_IF_ERROR(keys.status());
  std::string text;
  append_json(config.take(), text);
  return text;
}

}  // namespace pagoda::io

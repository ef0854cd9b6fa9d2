// Configurations of several families, and variations of them.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "io/config/model_config.h"

namespace pagoda::io {

inline const std::string kQwen3_5 = R"({
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

inline const std::string kQwen3_5Text = R"({
  "architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text", "hidden_size": 256,
  "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 1,
  "vocab_size": 4096, "eos_token_id": [1, 2], "rope_parameters": {"rope_theta": 1e6}})";

inline const std::string kQwen3 = R"({
  "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "attention_bias": false, "eos_token_id": 151645,
  "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072,
  "max_position_embeddings": 40960, "max_window_layers": 28, "num_attention_heads": 16, "num_hidden_layers": 28,
  "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000,
  "sliding_window": null, "tie_word_embeddings": true, "torch_dtype": "bfloat16", "use_sliding_window": false,
  "vocab_size": 151936})";

inline const std::string kQwen2 = R"({
  "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
  "num_attention_heads": 14, "num_key_value_heads": 2, "num_hidden_layers": 4, "vocab_size": 151936,
  "max_position_embeddings": 32768, "rope_theta": 1000000.0, "sliding_window": 100, "max_window_layers": 3,
  "use_sliding_window": true, "torch_dtype": "float16"})";

inline const std::string kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 576, "intermediate_size": 1536,
  "num_attention_heads": 9, "num_key_value_heads": 3, "num_hidden_layers": 30, "vocab_size": 49152,
  "max_position_embeddings": 8192, "rms_norm_eps": 1e-05, "rope_interleaved": false, "rope_scaling": null,
  "rope_theta": 100000, "tie_word_embeddings": true, "attention_bias": false, "mlp_bias": false})";

// `base` with `replacement` (a whole member, or nothing) in place of the member `key`, wherever it is nested; added at
// the front when absent.
inline std::string with(const std::string& base, const std::string& key, const std::string& value) {
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

inline Result<ModelConfig> parse(const std::string& json) { return parse_model_config(json, "config.json"); }

// For checks of one field; the defaults of ModelConfig after an error.
inline ModelConfig parsed(const std::string& json) { return parse(json).value.value_or(ModelConfig{}); }

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace pagoda::io

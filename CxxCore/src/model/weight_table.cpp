// Names and shapes of the tensors of each kind of layer, as Hugging Face checkpoints have them.
#include "model/weight_table.h"

#include <utility>

namespace pagoda::model {
namespace {

class Table {
 public:
  explicit Table(const io::ModelConfig& config) : config_(config) {}

  std::vector<WeightSpec> build() {
    const int64_t hidden = config_.hidden_size;
    prefix_ = config_.tensor_prefix;
    matrix(Role::embedding, "embed_tokens", config_.vocab_size, hidden);
    for (layer_ = 0; layer_ < config_.num_layers; ++layer_) {
      prefix_ = config_.tensor_prefix + "layers." + std::to_string(layer_) + ".";
      vector(Role::input_norm, "input_layernorm.weight", {hidden});
      const bool is_recurrent = config_.layers[static_cast<size_t>(layer_)] == io::LayerKind::linear_attention;
      is_recurrent ? gated_delta_net() : attention();
      vector(Role::post_norm, "post_attention_layernorm.weight", {hidden});
      mlp();
    }
    layer_ = kModelLevel;
    prefix_ = config_.tensor_prefix;
    vector(Role::final_norm, "norm.weight", {hidden});
    prefix_.clear();
    if (!config_.tie_word_embeddings) matrix(Role::lm_head, "lm_head", config_.vocab_size, hidden);
    return std::move(specs_);
  }

 private:
  void attention() {
    const int64_t hidden = config_.hidden_size, dim = config_.head_dim;
    const int64_t q = config_.num_heads * dim, kv = config_.num_kv_heads * dim;
    const int64_t q_and_gate = config_.attention_gate ? 2 * q : q;
    linear(Role::mixer_in, Role::mixer_in_bias, "self_attn.q_proj", q_and_gate, hidden, config_.attention_bias);
    linear(Role::mixer_in, Role::mixer_in_bias, "self_attn.k_proj", kv, hidden, config_.attention_bias);
    linear(Role::mixer_in, Role::mixer_in_bias, "self_attn.v_proj", kv, hidden, config_.attention_bias);
    linear(Role::mixer_out, Role::mixer_out_bias, "self_attn.o_proj", hidden, q, config_.attention_output_bias);
    if (!config_.qk_norm) return;
    vector(Role::q_norm, "self_attn.q_norm.weight", {dim});
    vector(Role::k_norm, "self_attn.k_norm.weight", {dim});
  }

  void gated_delta_net() {
    const int64_t hidden = config_.hidden_size, v_heads = config_.linear_num_v_heads;
    const int64_t k = int64_t{config_.linear_num_k_heads} * config_.linear_k_head_dim;
    const int64_t v = v_heads * config_.linear_v_head_dim, conv_channels = 2 * k + v;
    matrix(Role::mixer_in, "linear_attn.in_proj_qkv", conv_channels, hidden);
    matrix(Role::mixer_in, "linear_attn.in_proj_z", v, hidden);
    matrix(Role::mixer_in, "linear_attn.in_proj_b", v_heads, hidden);
    matrix(Role::mixer_in, "linear_attn.in_proj_a", v_heads, hidden);
    matrix(Role::mixer_out, "linear_attn.out_proj", hidden, v);
    vector(Role::conv, "linear_attn.conv1d.weight", {conv_channels, 1, config_.linear_conv_kernel});
    vector(Role::a_log, "linear_attn.A_log", {v_heads});
    vector(Role::dt_bias, "linear_attn.dt_bias", {v_heads});
    vector(Role::gdn_norm, "linear_attn.norm.weight", {config_.linear_v_head_dim});
  }

  void mlp() {
    const int64_t hidden = config_.hidden_size, inner = config_.intermediate_size;
    linear(Role::mlp_in, Role::mlp_in_bias, "mlp.gate_proj", inner, hidden, config_.mlp_bias);
    linear(Role::mlp_in, Role::mlp_in_bias, "mlp.up_proj", inner, hidden, config_.mlp_bias);
    linear(Role::mlp_out, Role::mlp_out_bias, "mlp.down_proj", hidden, inner, config_.mlp_bias);
  }

  void linear(Role role, Role bias_role, const std::string& name, int64_t rows, int64_t cols, bool has_bias) {
    matrix(role, name, rows, cols);
    if (has_bias) vector(bias_role, name + ".bias", {rows});
  }

  void matrix(Role role, const std::string& name, int64_t rows, int64_t cols) {
    specs_.push_back({layer_, role, true, prefix_ + name + ".weight", {rows, cols}});
  }

  void vector(Role role, const std::string& name, std::vector<int64_t> shape) {
    specs_.push_back({layer_, role, false, prefix_ + name, std::move(shape)});
  }

  const io::ModelConfig& config_;
  std::string prefix_;
  int layer_ = kModelLevel;
  std::vector<WeightSpec> specs_;
};

}  // namespace

std::vector<WeightSpec> weight_table(const io::ModelConfig& config) { return Table(config).build(); }

}  // namespace pagoda::model

// Names and shapes of the tensors of each kind of layer, as Hugging Face checkpoints have them.
#include "io/weight_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/weight_format.h"

namespace pagoda::io {
namespace {

class Table {
 public:
  Table(const ModelConfig& config, const CheckpointLayout& layout) : config_(config), layout_(layout) {}

  std::vector<WeightSpec> build() {
    const int64_t hidden = config_.hidden_size;
    prefix_ = config_.tensor_prefix;
    matrix(Role::embedding, "embed_tokens", config_.vocab_size, hidden);
    if (config_.has_streams())
      streams("hyper_connection_mixer.", Role::mixer_streams_norm, Role::mixer_streams_down, Role::mixer_streams_up,
              /*injects=*/false);
    else vector(Role::final_norm, "norm.weight", {hidden});
    for (layer_ = 0; layer_ < config_.num_layers; ++layer_) {
      prefix_ = concat(config_.tensor_prefix, "layers.", layer_, ".");
      const bool is_recurrent = config_.layers[layer_] == LayerKind::linear_attention;
      if (config_.has_streams()) layer_streams();
      else norms(is_recurrent);
      if (is_recurrent) config_.channel_decay ? kimi_delta_attention() : gated_delta_net();
      else config_.has_latents() ? latent_attention() : attention();
      if (config_.has_mixture(layer_)) mixture_of_experts(layout_.experts);
      else mlp(layout_.has_dense_blocks ? "block_sparse_moe." : "mlp.", config_.intermediate_size);
    }
    if (config_.runs_mtp_head) head();
    layer_ = kModelLevel;
    prefix_.clear();
    if (!config_.tie_word_embeddings) matrix(Role::lm_head, "lm_head", config_.vocab_size, hidden);
    return std::move(specs_);
  }

  std::vector<WeightSpec> build_head() {
    head();
    return std::move(specs_);
  }

 private:
  void head() {
    const int64_t hidden = config_.hidden_size;
    layer_ = config_.num_layers;
    prefix_ = config_.mtp_prefix;
    vector(Role::head_embedding_norm, "pre_fc_norm_embedding.weight", {hidden});
    vector(Role::head_hidden_norm, "pre_fc_norm_hidden.weight", {config_.num_streams * hidden});
    if (config_.has_streams()) {
      matrix(Role::head_embedding_fc, "fc_embedding", hidden, hidden);
      matrix(Role::head_fc, "fc_hidden", hidden, hidden);
      streams("hyper_connection_mixer.", Role::head_streams_norm, Role::head_streams_down, Role::head_streams_up,
              /*injects=*/false);
    } else {
      matrix(Role::head_fc, "fc", hidden, 2 * hidden);
      vector(Role::head_norm, "norm.weight", {hidden});
    }
    prefix_ = mtp_layer_prefix(config_);
    if (config_.has_streams()) layer_streams();
    else vector(Role::input_norm, "input_layernorm.weight", {hidden});
    attention();
    if (!config_.has_streams()) vector(Role::post_norm, "post_attention_layernorm.weight", {hidden});
    config_.num_experts > 0 ? mixture_of_experts(layout_.head_experts) : mlp("mlp.", config_.intermediate_size);
  }

  void attention() {
    const int64_t hidden = config_.hidden_size, dim = config_.head_dim;
    const int64_t q = config_.num_heads * dim, kv = config_.num_kv_heads * dim;
    const int64_t q_and_gate = config_.attention_gate ? 2 * q : q;
    if (config_.is_fused) {
      matrix(Role::mixer_in, "self_attn.qkv_proj", q_and_gate + 2 * kv, hidden);
    } else {
      linear(Role::mixer_in, Role::mixer_in_bias, "self_attn.q_proj", q_and_gate, hidden, config_.attention_bias);
      linear(Role::mixer_in, Role::mixer_in_bias, "self_attn.k_proj", kv, hidden, config_.attention_bias);
      linear(Role::mixer_in, Role::mixer_in_bias, "self_attn.v_proj", kv, hidden, config_.attention_bias);
    }
    if (config_.has_indexer(layer_)) indexer();
    linear(Role::mixer_out, Role::mixer_out_bias, "self_attn.o_proj", hidden, q, config_.attention_output_bias);
    if (!config_.qk_norm) return;
    vector(Role::q_norm, "self_attn.q_norm.weight", {config_.norms_all_heads ? q : dim});
    vector(Role::k_norm, "self_attn.k_norm.weight", {config_.norms_all_heads ? kv : dim});
  }

  void indexer() {
    const int64_t dim = config_.indexer.head_dim;
    const int64_t q = config_.indexer.num_heads * dim, hidden = config_.hidden_size;
    if (layout_.splits_indexer) {
      matrix(Role::mixer_in, "self_attn.indexer.q_proj", q, hidden);
      matrix(Role::mixer_in, "self_attn.indexer.k_proj", dim, hidden);
    } else {
      matrix(Role::mixer_in, "self_attn.indexer.index_qk_proj", q + dim, hidden);
    }
    vector(Role::index_q_norm, "self_attn.indexer.q_layernorm.weight", {dim});
    vector(Role::index_k_norm, "self_attn.indexer.k_layernorm.weight", {dim});
  }

  void streams(const std::string& name, Role norm, Role down, Role up, bool injects = true) {
    const int64_t all = int64_t{config_.num_streams} * config_.hidden_size, rank = config_.stream_rank;
    vector(norm, name + "hc_norm.weight", {all});
    matrix(down, name + "input_mix_weight_down", rank, all);
    if (injects) matrix(down, name + "block_inject_weight", config_.num_streams, all);
    matrix(up, name + "input_mix_weight_up", all, rank);
  }

  void layer_streams() {
    if (config_.ngrams.table_index(layer_) >= 0) ngrams();
    streams("attn_hyper_connection.", Role::mixer_streams_norm, Role::mixer_streams_down, Role::mixer_streams_up);
    streams("mlp_hyper_connection.", Role::mlp_streams_norm, Role::mlp_streams_down, Role::mlp_streams_up);
  }

  void ngrams() {
    const NgramConfig& ngrams = config_.ngrams;
    const int64_t hidden = config_.hidden_size, all = config_.num_streams * hidden;
    matrix(Role::ngram_in, "ple.key_proj", all, ngrams.embed_dim);
    matrix(Role::ngram_in, "ple.value_proj", hidden, ngrams.embed_dim);
    vector(Role::ngram_key_norm, "ple.norm_key.weight", {all});
    vector(Role::ngram_query_norm, "ple.norm_query.weight", {all});
    vector(Role::ngram_conv_norm, "ple.norm_conv.weight", {all});
    vector(Role::ngram_conv, "ple.conv1d.weight", {all, 1, ngrams.conv_kernel});
    const int64_t rows = make_ngram_hash(ngrams.hash, ngrams.table_index(layer_)).num_rows;
    const int64_t cols = ngrams.embed_dim / ngrams.num_heads();
    const std::string name = "ple.ple_embedding.ngram_embedding";
    if (!layout_.splits_ngrams) return matrix(Role::ngram_table, name, rows, cols);
    const int64_t shard_rows = (rows + ngrams.num_shards - 1) / ngrams.num_shards;  // the last has the rest
    for (int64_t shard = 0; shard * shard_rows < rows; ++shard)
      matrix(Role::ngram_table, concat(name, ".shard_", shard), std::min(shard_rows, rows - shard * shard_rows), cols);
  }

  // Row order per head: the part that does not rotate, then the rotating part, reordered so that the elements of a pair
  // are half of its length apart.
  std::vector<int32_t> rotating_last(int64_t heads, int64_t first) const {
    std::vector<int32_t> order;
    const int64_t rope = config_.head_dim, dim = first + rope;
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t i = 0; i < first; ++i) order.push_back(static_cast<int32_t>(head * dim + i));
      for (int64_t i = 0; i < rope; ++i) {
        const int64_t from = !config_.rope_interleaved ? i : i < rope / 2 ? 2 * i : 2 * (i - rope / 2) + 1;
        order.push_back(static_cast<int32_t>(head * dim + first + from));
      }
    }
    return order;
  }

  // kv_b maps a latent to [key | value] of each head. Queries are multiplied by the key part, which is transposed.
  void latent_attention() {
    const int64_t hidden = config_.hidden_size, heads = config_.num_heads, rank = config_.kv_lora_rank;
    const int64_t nope = config_.nope_head_dim, rope = config_.head_dim, v = config_.v_head_dim;
    const int64_t q_rank = config_.q_lora_rank;
    if (q_rank > 0) {
      matrix(Role::mixer_in, "self_attn.q_a_proj", q_rank, hidden);
      vector(Role::q_norm, "self_attn.q_a_layernorm.weight", {q_rank});
    }
    matrix(Role::latent_q, q_rank > 0 ? "self_attn.q_b_proj" : "self_attn.q_proj", heads * (nope + rope),
           q_rank > 0 ? q_rank : hidden);
    specs_.back().row_order = rotating_last(heads, nope);
    matrix(Role::mixer_in, "self_attn.kv_a_proj_with_mqa", rank + rope, hidden);
    specs_.back().row_order = rotating_last(1, rank);
    vector(Role::k_norm, "self_attn.kv_a_layernorm.weight", {rank});
    latent_heads(heads, rank, nope, v);
    matrix(Role::mixer_out, "self_attn.o_proj", hidden, heads * v);
  }

  void latent_heads(int64_t heads, int64_t rank, int64_t nope, int64_t v) {
    if (layout_.splits_latents) {
      experts(Role::latent_k, "self_attn.k_b_proj.weight", {heads, rank, nope});
      return experts(Role::latent_v, "self_attn.v_b_proj.weight", {heads, v, rank});
    }
    matrix(Role::latent_k, "self_attn.kv_b_proj", heads * (nope + v), rank);
    specs_.back().cols = nope;
    specs_.back().matrix_rows = nope + v;
    matrix(Role::latent_v, "self_attn.kv_b_proj", heads * (nope + v), rank);
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < v; ++i)
        specs_.back().row_order.push_back(static_cast<int32_t>(head * (nope + v) + nope + i));
  }

  // post_attention_layernorm is the norm of the MLP's input, unless outputs are normalised.
  void norms(bool is_recurrent) {
    const std::vector<int64_t> shape = {config_.hidden_size};
    const bool only_outputs = config_.norms_outputs && !is_recurrent;
    if (!only_outputs) vector(Role::input_norm, "input_layernorm.weight", shape);
    if (!only_outputs && !config_.has_four_norms)
      return vector(Role::post_norm, "post_attention_layernorm.weight", shape);
    vector(Role::mixer_norm, "post_attention_layernorm.weight", shape);
    if (!only_outputs) vector(Role::post_norm, "pre_feedforward_layernorm.weight", shape);
    vector(Role::mlp_norm, "post_feedforward_layernorm.weight", shape);
  }

  void gated_delta_net() {
    const int64_t hidden = config_.hidden_size, v_heads = config_.linear_num_v_heads;
    const int64_t k = int64_t{config_.linear_num_k_heads} * config_.linear_k_head_dim;
    const int64_t v = v_heads * config_.linear_v_head_dim, conv_channels = 2 * k + v;
    if (config_.family == Family::olmo_hybrid) return olmo_delta_net(k, v);
    if (layout_.packed_projections) {
      packed_projections();
    } else {
      matrix(Role::mixer_in, "linear_attn.in_proj_qkv", conv_channels, hidden);
      matrix(Role::mixer_in, "linear_attn.in_proj_z", v, hidden);
      matrix(Role::mixer_in, "linear_attn.in_proj_b", v_heads, hidden);
      matrix(Role::mixer_in, "linear_attn.in_proj_a", v_heads, hidden);
    }
    matrix(Role::mixer_out, "linear_attn.out_proj", hidden, v);
    vector(Role::conv, "linear_attn.conv1d.weight", {conv_channels, 1, config_.linear_conv_kernel});
    vector(Role::a_log, "linear_attn.A_log", {v_heads});
    vector(Role::dt_bias, "linear_attn.dt_bias", {v_heads});
    vector(Role::gdn_norm, "linear_attn.norm.weight", {config_.linear_v_head_dim});
  }

  void olmo_delta_net(int64_t k, int64_t v) {
    const int64_t hidden = config_.hidden_size, v_heads = config_.linear_num_v_heads;
    for (const auto& [part, size] : {std::pair("q", k), std::pair("k", k), std::pair("v", v)}) {
      matrix(Role::mixer_in, concat("linear_attn.", part, "_proj"), size, hidden);
      vector(Role::conv, concat("linear_attn.", part, "_conv1d.weight"), {size, 1, config_.linear_conv_kernel});
    }
    matrix(Role::mixer_in, "linear_attn.g_proj", v, hidden);
    matrix(Role::mixer_in, "linear_attn.b_proj", v_heads, hidden);
    matrix(Role::mixer_in, "linear_attn.a_proj", v_heads, hidden);
    matrix(Role::mixer_out, "linear_attn.o_proj", hidden, v);
    vector(Role::a_log, "linear_attn.A_log", {v_heads});
    vector(Role::dt_bias, "linear_attn.dt_bias", {v_heads});
    vector(Role::gdn_norm, "linear_attn.o_norm.weight", {config_.linear_v_head_dim});
  }

  void kimi_delta_attention() {
    const int64_t hidden = config_.hidden_size, heads = config_.linear_num_v_heads, dim = config_.linear_v_head_dim;
    for (const char* part : {"q", "k", "v"}) {
      matrix(Role::mixer_in, self_attn(part, "_proj"), heads * dim, hidden);
      vector(Role::conv, self_attn(part, "_conv1d.weight"), {heads * dim, 1, config_.linear_conv_kernel});
    }
    matrix(Role::mixer_in, "self_attn.b_proj", heads, hidden);
    matrix(Role::mixer_in, "self_attn.f_a_proj", dim, hidden);
    matrix(Role::decay, "self_attn.f_b_proj", heads * dim, dim);
    matrix(Role::mixer_in, "self_attn.g_a_proj", dim, hidden);
    matrix(Role::gate, "self_attn.g_b_proj", heads * dim, dim);
    matrix(Role::mixer_out, "self_attn.o_proj", hidden, heads * dim);
    vector(Role::a_log, "self_attn.A_log", {1, 1, heads, 1});
    vector(Role::dt_bias, "self_attn.dt_bias", {heads * dim});
    vector(Role::gdn_norm, "self_attn.o_norm.weight", {dim});
  }

  static std::string self_attn(const char* part, const char* rest) { return std::string("self_attn.") + part + rest; }

  // The file stores all kinds of the first K-head, then of the next; the model needs all heads of one kind, then of the
  // next.
  void packed(const std::string& name, std::initializer_list<int64_t> sizes) {
    int64_t per_head = 0, begin = 0;
    for (int64_t size : sizes) per_head += size;
    matrix(Role::mixer_in, name, per_head * config_.linear_num_k_heads, config_.hidden_size);
    std::vector<int32_t>& order = specs_.back().row_order;
    for (int64_t size : sizes) {
      for (int64_t head = 0; head < config_.linear_num_k_heads; ++head)
        for (int64_t i = 0; i < size; ++i) order.push_back(static_cast<int32_t>(head * per_head + begin + i));
      begin += size;
    }
  }

  void packed_projections() {
    const int64_t heads = config_.linear_num_v_heads / config_.linear_num_k_heads, k = config_.linear_k_head_dim;
    const int64_t v = heads * config_.linear_v_head_dim;
    packed("linear_attn.in_proj_qkvz", {k, k, v, v});
    packed("linear_attn.in_proj_ba", {heads, heads});
  }

  void mlp(const std::string& name, int64_t inner) {
    const int64_t hidden = config_.hidden_size;
    if (config_.is_fused) {
      matrix(Role::mlp_in, name + "gate_up_proj", 2 * inner, hidden);
    } else {
      linear(Role::mlp_in, Role::mlp_in_bias, name + "gate_proj", inner, hidden, config_.mlp_bias);
      linear(Role::mlp_in, Role::mlp_in_bias, name + "up_proj", inner, hidden, config_.mlp_bias);
    }
    linear(Role::mlp_out, Role::mlp_out_bias, name + "down_proj", hidden, inner, config_.mlp_bias);
  }

  void mixture_of_experts(ExpertLayout layout) {
    const int64_t hidden = config_.hidden_size, count = config_.num_experts, inner = config_.expert_size;
    const std::string block = layout_.has_sparse_blocks ? "block_sparse_moe." : "mlp.";
    matrix(Role::router, block + "gate", count, hidden);
    if (config_.sigmoid_router) vector(Role::router_bias, block + "gate.e_score_correction_bias", {count});
    if (config_.shared_expert_size > 0 && config_.shared_expert_gate) {
      matrix(Role::router, "mlp.shared_expert_gate", 1, hidden);
      mlp("mlp.shared_expert.", config_.shared_expert_size);
    } else if (config_.shared_expert_size > 0) {
      mlp(block + "shared_experts.", config_.shared_expert_size);
    }
    const int64_t padded = padded_expert_size(config_), outputs = padded_expert_outputs(config_);
    if (layout == ExpertLayout::stacked) {
      experts(Role::experts_in, "mlp.experts.gate_up_proj", {count, 2 * inner, hidden});
      pad(2 * count, inner, padded, hidden);
      experts(Role::experts_out, "mlp.experts.down_proj", {count, hidden, inner});
      return pad(count, hidden, outputs, padded);
    }
    if (layout == ExpertLayout::transposed) {
      experts(Role::experts_in, "mlp.experts.gate_up_proj", {count, hidden, 2 * inner});
      specs_.back().matrix_rows = hidden;
      pad(2 * count, inner, padded, hidden);
      experts(Role::experts_out, "mlp.experts.down_proj", {count, inner, hidden});
      specs_.back().matrix_rows = inner;
      return pad(count, hidden, outputs, padded);
    }
    if (layout == ExpertLayout::by_projection) {
      for (int64_t expert = 0; expert < count; ++expert)
        for (const char* name : {"mlp.switch_mlp.gate_proj.weight", "mlp.switch_mlp.up_proj.weight"}) {
          experts(Role::experts_in, name, {count, inner, hidden}, expert);
          pad(1, inner, padded, hidden);
        }
      experts(Role::experts_out, "mlp.switch_mlp.down_proj.weight", {count, hidden, inner});
      return pad(count, hidden, outputs, padded);
    }
    for (int64_t expert = 0; expert < count; ++expert)
      for (const char* name :
           {layout_.has_sparse_blocks ? ".w1" : ".gate_proj", layout_.has_sparse_blocks ? ".w3" : ".up_proj"}) {
        matrix(Role::experts_in, concat(block, "experts.", expert, name), inner, hidden);
        pad(1, inner, padded, hidden);
      }
    for (int64_t expert = 0; expert < count; ++expert) {
      matrix(Role::experts_out, concat(block, "experts.", expert, layout_.has_sparse_blocks ? ".w2" : ".down_proj"),
             hidden, inner);
      pad(1, hidden, outputs, padded);
    }
  }

  // `shape` is that of the whole tensor, [experts, rows, cols], even if only one expert is needed.
  void experts(Role role, const std::string& name, std::vector<int64_t> shape, int64_t expert = -1) {
    specs_.push_back({layer_, role, true, prefix_ + name, std::move(shape), {}, expert});
  }

  // Appends zeros to each of `count` runs of `rows` rows of the last tensor, and to its columns.
  void pad(int64_t count, int64_t rows, int64_t padded_rows, int64_t padded_cols) {
    specs_.back().cols = padded_cols;
    if (rows == padded_rows) return;
    for (int64_t run = 0; run < count; ++run)
      for (int64_t i = 0; i < padded_rows; ++i)
        specs_.back().row_order.push_back(i < rows ? static_cast<int32_t>(run * rows + i) : -1);
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

  const ModelConfig& config_;
  const CheckpointLayout& layout_;
  std::string prefix_;
  int layer_ = kModelLevel;
  std::vector<WeightSpec> specs_;
};

int64_t rounded_up(int64_t size, int64_t multiple) noexcept { return (size + multiple - 1) / multiple * multiple; }

}  // namespace

int64_t padded_expert_size(const ModelConfig& config) noexcept {
  return rounded_up(config.expert_size, kExpertRowMultiple / 2);  // gate and up are adjacent
}
int64_t padded_expert_outputs(const ModelConfig& config) noexcept {
  return rounded_up(config.hidden_size, kExpertRowMultiple);
}

std::vector<WeightSpec> weight_table(const ModelConfig& config, const CheckpointLayout& layout) {
  return Table(config, layout).build();
}

std::string mtp_layer_prefix(const ModelConfig& config) {
  constexpr std::string_view kGguf = "nextn.";
  const std::string& prefix = config.mtp_prefix;
  return prefix.ends_with(kGguf) ? prefix.substr(0, prefix.size() - kGguf.size()) : prefix + "layers.0.";
}

std::vector<WeightSpec> mtp_table(const ModelConfig& config, const CheckpointLayout& layout) {
  return Table(config, layout).build_head();
}

}  // namespace pagoda::io

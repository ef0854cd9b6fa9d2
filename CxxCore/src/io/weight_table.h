// The weight table: every tensor an architecture needs, by name and shape, in checkpoint order. Checking,
// loading and synthetic models all use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/config/model_config.h"

namespace pagoda::io {

// The role of a tensor in its layer. Tensors of one layer and role are stacked by rows in the order of the table.
enum class Role : uint8_t {
  embedding,
  lm_head,
  final_norm,  // before the head
  // The norms of a layer: before its mixer and before its MLP.
  input_norm,
  post_norm,
  // MLP: gate | up; down.
  mlp_in,
  mlp_in_bias,
  mlp_out,
  mlp_out_bias,
  // Mixer: its input projections, and the output projection. Attention: q (with gate) | k | v, then queries and key of
  // an indexer; GDN: qkv | z | b | a; KDA: q | k | v | b | f_a | g_a; latent attention: q_a | kv_a.
  mixer_in,
  mixer_in_bias,
  mixer_out,
  mixer_out_bias,
  // Latent attention.
  latent_q,  // queries of all heads, from the hidden states or from their own latent
  latent_k,  // per head: maps the part of a query that does not rotate to a latent
  latent_v,  // per head: maps a sum of latents to a value
  // Attention: norms of queries and keys; in latent attention, of the queries' latent and of the cached one.
  q_norm,
  k_norm,
  // Norms of the outputs of mixer and MLP, in families that have them.
  mixer_norm,
  mlp_norm,
  // Gated DeltaNet and Kimi Delta Attention.
  conv,
  a_log,
  dt_bias,
  gdn_norm,
  // Kimi Delta Attention: projections from their latents.
  decay,
  gate,
  // Mixtures of experts: router and gate of the shared expert; gate | up of every expert; down of every expert.
  router,
  router_bias,
  experts_in,
  experts_out,
  // Hyper-connections before a layer's mixer, or before the head, and before its MLP: norm of all streams, the products
  // that mix them ([rank | weight of each stream, streams * H], [streams * H, rank]).
  mixer_streams_norm,
  mixer_streams_down,
  mixer_streams_up,
  mlp_streams_norm,
  mlp_streams_down,
  mlp_streams_up,
  // Sparse attention: norms of index queries and of the keys of blocks.
  index_q_norm,
  index_k_norm,
  // N-gram embeddings: keys | values, norms of keys, streams and the convolution's inputs, and the table, which stays
  // in the files.
  ngram_in,
  ngram_key_norm,
  ngram_query_norm,
  ngram_conv_norm,
  ngram_conv,
  ngram_table,
  // The MTP head, which is the layer after the last.
  head_fc,
  head_embedding_norm,
  head_hidden_norm,
  head_norm,
  // If there are several residual streams: the embedding's product, head_fc being that of each stream, and the
  // connections before the logits, instead of the norm.
  head_embedding_fc,
  head_streams_norm,
  head_streams_down,
  head_streams_up,
};
constexpr int kNumRoles = static_cast<int>(Role::head_streams_up) + 1;
constexpr int kModelLevel = -1;  // layer_index of tensors that belong to no layer

struct WeightSpec {
  int layer_index;
  Role role;
  bool is_matrix;  // a device Weight [rows, cols]; else a small vector kept in f32
  std::string name;
  std::vector<int64_t> shape;
  // Rows of the tensor, or of its transposed matrices, in the order needed; -1: a row of zeros; empty: as stored.
  std::vector<int32_t> row_order{};
  int64_t expert = -1;  // the only one needed of a tensor [experts, rows, cols]; -1: all
  int64_t cols = 0;     // columns needed, padded with zeros; 0: those of the tensor
  // The tensor is a stack of matrices of `matrix_rows` rows; the first `cols` of each are needed transposed; 0: not
  // stacked.
  int64_t matrix_rows = 0;
};

// How a checkpoint stores the experts of a layer: separately; gate | up in one tensor [experts, rows, cols] and down
// in another; the same transposed, [experts, cols, rows] (Qwen3-VL); or gate, up and down in one such tensor each, as
// in MLX and GGUF.
enum class ExpertLayout : uint8_t { separate, stacked, transposed, by_projection };

// Choices that an architecture leaves to each checkpoint.
struct CheckpointLayout {
  ExpertLayout experts = ExpertLayout::separate;
  ExpertLayout head_experts = ExpertLayout::separate;  // of the MTP head
  bool splits_latents = false;      // latent attention: separate tensors project to keys (transposed) and to values
  bool has_sparse_blocks = false;   // mixtures are named block_sparse_moe and their matrices w1, w2, w3 (Kimi-Linear)
  bool has_dense_blocks = false;    // dense layers have such names too, as transformers saves them
  bool splits_indexer = false;      // sparse attention: separate tensors project to queries and key of the indexer
  bool splits_ngrams = true;        // tables of n-grams are several tensors each, as the configuration states
  bool packed_projections = false;  // Gated DeltaNet: q, k, v and z in one tensor, b and a in another, by K-head
};

// Inner size of an expert, and outputs of its down projection, padded with zeros: an expert's rows of a weight start at
// a packed block (kExpertRowMultiple).
int64_t padded_expert_size(const ModelConfig& config) noexcept;
int64_t padded_expert_outputs(const ModelConfig& config) noexcept;

std::vector<WeightSpec> weight_table(const ModelConfig& config, const CheckpointLayout& layout);

// The prefix of the names of an MTP head's layer, which in GGUF is among the others.
std::string mtp_layer_prefix(const ModelConfig& config);

// Only the tensors of the MTP head.
std::vector<WeightSpec> mtp_table(const ModelConfig& config, const CheckpointLayout& layout);

}  // namespace pagoda::io

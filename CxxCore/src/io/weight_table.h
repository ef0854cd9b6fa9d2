// The weight table: every tensor an architecture needs, by name and shape, in the order of a checkpoint. Checking,
// loading and synthetic models all walk it.
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
  final_norm,  // of the model
  input_norm,
  post_norm,  // of every layer
  mlp_in,
  mlp_in_bias,
  mlp_out,
  mlp_out_bias,  // gate | up; down
  mixer_in,
  mixer_in_bias,
  mixer_out,
  // attention: q (with gate) | k | v; GDN: qkv | z | b | a; KDA: q | k | v | b | f_a | g_a; latent attention: q_a | kv_a
  mixer_out_bias,
  latent_q,        // latent attention: queries of all heads, of the model's states or of their own latent
  latent_k,        // by head: a query's part that does not rotate to a latent
  latent_v,        // by head: a sum of latents to a value
  q_norm,
  k_norm,  // attention; latent attention: of the queries' latent and of the cached one
  mixer_norm,
  mlp_norm,  // of what they add, where a family has these
  conv,
  a_log,
  dt_bias,
  gdn_norm,  // Gated DeltaNet, Kimi Delta Attention
  decay,
  gate,  // Kimi Delta Attention: of their latents
  router,
  router_bias,
  experts_in,
  experts_out,  // router and gate of the shared expert; gate | up of every expert; down of every expert
  head_fc,
  head_embedding_norm,
  head_hidden_norm,
  head_norm,  // of the MTP head, which is the layer after the last
};
constexpr int kNumRoles = static_cast<int>(Role::head_norm) + 1;
constexpr int kModelLevel = -1;  // layer_index of tensors that belong to no layer

struct WeightSpec {
  int layer_index;
  Role role;
  bool is_matrix;  // a device Weight [rows, cols]; else a small vector kept in f32
  std::string name;
  std::vector<int64_t> shape;
  std::vector<int32_t> row_order{};  // rows of the tensor in the order they are wanted, -1: of zeros; empty: as stored
  int64_t expert = -1;               // of a tensor [experts, rows, cols] the only one meant; -1: all of it
  int64_t cols = 0;                  // wanted, zeros behind those of the tensor; 0: as many as it has
  // The tensor is a stack of matrices of `head_rows` rows, of each of which the first `cols` are wanted transposed; 0: not.
  int64_t head_rows = 0;
};

// How a checkpoint keeps the experts of a layer: each by itself; gate | up in one tensor [experts, rows, cols] and down
// in another; or gate, up and down in one such tensor each, as MLX and GGUF have them.
enum class ExpertLayout : uint8_t { separate, stacked, by_projection };

// Choices that an architecture leaves to each checkpoint.
struct CheckpointLayout {
  ExpertLayout experts = ExpertLayout::separate;
  ExpertLayout head_experts = ExpertLayout::separate;  // of the MTP head
  bool splits_latents = false;  // latent attention: the projections to keys, transposed, and to values in a tensor each
  bool has_sparse_blocks = false;   // mixtures are named block_sparse_moe and their matrices w1, w2, w3 (Kimi-Linear)
  bool has_dense_blocks = false;    // and so are dense layers, as transformers saves them
  bool packed_projections = false;  // Gated DeltaNet: q, k, v and z in one tensor, b and a in another, by K-head
};

// Inner size of an expert, and outputs of its down projection, padded with zeros: an expert's rows of a weight begin at
// a packed block (kExpertRowMultiple).
int64_t padded_expert_size(const ModelConfig& config) noexcept;
int64_t padded_expert_outputs(const ModelConfig& config) noexcept;

std::vector<WeightSpec> weight_table(const ModelConfig& config, const CheckpointLayout& layout);

// The prefix of the names of an MTP head's one layer: GGUF has it among the others.
std::string mtp_layer_prefix(const ModelConfig& config);

// Those of the MTP head alone.
std::vector<WeightSpec> mtp_table(const ModelConfig& config, const CheckpointLayout& layout);

}  // namespace pagoda::io

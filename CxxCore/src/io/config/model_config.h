// ModelConfig: the architecture of a model as config.json states it, checked, with every default made explicit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "io/config/families.h"
#include "io/config/streams.h"
#include "io/config/vision.h"

namespace pagoda::io {

class Json;

enum class LayerKind : uint8_t { full_attention, sliding_attention, linear_attention };

struct RopeConfig {
  double theta = 10000.0;
  int32_t rotary_dim = 0;  // dims of each head that rotate; even
  bool is_off = false;     // no rotation: all frequencies are 0
  enum class Scaling : uint8_t { none, llama3, linear, yarn, dynamic, longrope } scaling = Scaling::none;
  double factor = 1.0;
  double low_freq_factor = 1.0;                     // llama3
  double high_freq_factor = 4.0;                    // llama3
  int32_t original_context = 0;                     // all except linear: the context that the model was trained with
  double attention_factor = 1.0;                    // yarn, longrope: scales the rotated part of queries and keys
  double beta_fast = 32.0, beta_slow = 1.0;         // yarn
  bool truncate = true;                             // yarn
  double mscale_all_dim = 0.0;                      // scales the scores of latent attention; 0 = off
  std::vector<double> short_factors, long_factors;  // longrope, [rotary_dim / 2]

  // Whether frequencies differ for positions past original_context.
  bool depends_on_position() const noexcept { return scaling == Scaling::dynamic || scaling == Scaling::longrope; }
  bool operator==(const RopeConfig&) const = default;
};

inline constexpr int32_t kMaxContextLength = 1 << 30;

struct ModelConfig {
  Family family = Family::qwen3_5;
  std::string architecture;   // config.json "architectures"[0]
  std::string tensor_prefix;  // before "embed_tokens.weight": "model." or "model.language_model."
  DType dtype = DType::f32;   // of the checkpoint according to config.json; f32 if it states none
  bool states_dtype = false;
  int32_t hidden_size = 0;
  int32_t intermediate_size = 0;  // of a dense MLP; 0 if every MLP is a mixture
  int32_t num_layers = 0;
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;  // with latents: only the dims that rotate
  int32_t vocab_size = 0;
  int32_t context_length = 0;
  int32_t sliding_window = 0;  // of sliding_attention layers: a token attends to itself and window - 1 before it
  float rms_norm_eps = 1e-6f;
  bool tie_word_embeddings = false;
  bool attention_bias = false;  // q, k, v projections have a bias (Qwen2; optional in Llama)
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool qk_norm = false;             // Qwen3 and later
  bool norms_all_heads = false;     // the norms of q and k are over all heads together
  bool zero_centered_norm = false;  // hybrid families: multiply by 1 + w
  bool attention_gate = false;      // hybrid families: q_proj holds [q | gate] per head
  std::vector<LayerKind> layers;
  RopeConfig rope;
  RopeConfig sliding_rope;       // of sliding_attention layers; the same as the others except in Gemma 3
  float attention_scale = 0.0f;  // factor on the scores
  float embedding_scale = 1.0f;
  bool gelu = false;            // the MLP's activation is GELU by tanh instead of SiLU
  bool has_four_norms = false;  // the outputs of attention and the MLP are normalised too
  bool norms_outputs = false;   // attention layers normalise the outputs of attention and the MLP, not their inputs
  bool is_fused = false;        // q, k and v in one tensor, gate and up in another
  float residual_scale = 1.0f;  // factor on the outputs of attention and the MLP
  float logits_scale = 1.0f;    // factor on the hidden states that the head reads
  int32_t kv_lora_rank = 0;     // latent attention: dims of a latent; 0 = keys and values are cached
  int32_t q_lora_rank = 0;      // dims of the queries' own latent; 0 = none
  int32_t nope_head_dim = 0;    // dims of a query that do not rotate
  int32_t v_head_dim = 0;
  bool rope_interleaved = false;   // dims 2 i and 2 i + 1 rotate together in the checkpoint
  int32_t linear_num_k_heads = 0;  // Gated DeltaNet, Kimi Delta Attention
  int32_t linear_num_v_heads = 0;
  int32_t linear_k_head_dim = 0;
  int32_t linear_v_head_dim = 0;
  int32_t linear_conv_kernel = 0;
  float linear_norm_eps = 1e-6f;     // of the norm of the delta rule's outputs
  float linear_beta_scale = 1.0f;    // GdnArgs::beta_scale
  bool sigmoid_output_gate = false;  // of the delta rule, instead of SiLU
  bool channel_decay = false;        // linear attention is Kimi Delta Attention
  int32_t num_experts = 0;           // of an MLP that is a mixture; 0 = none
  std::vector<bool> is_mixture;      // by layer; empty if there are no experts
  int32_t num_experts_per_token = 0;
  int32_t expert_size = 0;         // inner size of an expert
  int32_t shared_expert_size = 0;  // inner size of the expert that every token goes through; 0 = none
  bool shared_expert_gate = true;  // the shared expert's output is gated
  bool norm_topk_prob = true;      // the chosen experts' probabilities are normalised to sum to 1
  bool sigmoid_router = false;     // scores are sigmoids, plus a bias for the choice, instead of a softmax
  int32_t num_expert_groups = 1, groups_per_token = 1;  // experts of a token come from its best groups
  float expert_scale = 1.0f;                            // factor on the chosen experts' weights
  int32_t num_streams = 1;                              // residual streams; more than 1: hyper-connections
  int32_t stream_rank = 0;                              // of the product that mixes them
  IndexerConfig indexer;
  NgramConfig ngrams;
  bool has_mtp_head = false;   // the checkpoint has one (model::find_mtp_head): caches include its rows
  bool runs_mtp_head = false;  // the head is loaded too
  std::string mtp_prefix;      // before its "fc.weight"
  // Ids that the head may draft, starting from 0. BPE vocabularies are ordered by merges, the most frequent first: the
  // other rows of lm_head would be read for drafts that hardly ever occur.
  int32_t draft_vocab_size = 32768;
  VisionConfig vision;
  std::vector<int32_t> eos_token_ids;  // from config.json; the engine adds those of generation_config.json

  const FamilyTraits& traits() const noexcept { return traits_of(family); }

  // Layers [first_layer, end_layer) are loaded: a part of a model that several machines run together. end_layer 0: all.
  int32_t first_layer = 0, end_layer = 0;
  bool is_part() const noexcept { return end_layer > 0; }
  bool runs_layer(int32_t layer_index) const noexcept {
    return !is_part() || (layer_index >= first_layer && layer_index < end_layer);
  }
  bool has_ends() const noexcept { return first_layer == 0; }  // has embedding, last norm and head

  bool has_streams() const noexcept { return num_streams > 1; }
  // The attention of an MTP head, the layer after the last, is dense.
  bool has_indexer(int32_t layer) const noexcept { return indexer.is_present() && layer < num_layers; }
  bool has_latents() const noexcept { return kv_lora_rank > 0; }
  int32_t latent_dim() const noexcept { return kv_lora_rank + head_dim; }  // of a cache row
  bool has_mixture(int32_t layer_index) const noexcept {
    return static_cast<size_t>(layer_index) < is_mixture.size() && is_mixture[layer_index];
  }
};

// Parses and checks config.json; `file_name` is for messages. Keys that would run code (auto_map, model_file) are
// ignored.
Result<ModelConfig> parse_model_config(std::string_view json, const std::string& file_name);

// The prefix of "embed_tokens.weight" in checkpoints of the configuration's architecture; "model." if the architecture
// is unknown.
std::string tensor_prefix(const Json& config);

// eos_token_id of generation_config.json: an integer or a list; ids of the vocabulary only.
Result<std::vector<int32_t>> parse_eos_token_ids(std::string_view generation_config_json, const std::string& file_name,
                                                 int32_t vocab_size);

}  // namespace pagoda::io

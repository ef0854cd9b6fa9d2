// The properties of a model folder and its memory plan: plain values for `pagoda info` and for errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/engine_limits.h"
#include "pagoda/image.h"

namespace pagoda {

struct MemoryPlan {  // bytes, computed before anything is allocated, and the counts behind them
  int64_t device_limit_bytes = 0;
  int64_t weights_bytes = 0;          // with expert_memory_bytes, of the experts only so many
  int64_t kv_bytes = 0;               // limits.num_kv_blocks * kv_block_bytes
  int64_t state_bytes = 0;            // limits.num_running_slots() * state_slot_bytes
  int64_t checkpoint_bytes = 0;       // limits.num_checkpoints * state_slot_bytes
  int64_t workspace_bytes = 0;        // activations, step inputs, logits
  int64_t host_cache_bytes = 0;       // prefixes in host memory
  int64_t vision_bytes = 0;           // the vision tower's weights and activations, and the cache of its results
  int64_t vision_host_bytes = 0;      // of those, what is not in the device's own memory; 0 without has_own_memory
  int64_t adapter_bytes = 0;          // for LoRA adapters
  int64_t expert_memory_bytes = 0;    // for experts that are read when steps need them; 0: all weights are in memory
  int64_t expert_bytes = 0;           // of all experts of mixtures
  int64_t expert_token_bytes = 0;     // of those that a token is multiplied with
  bool has_own_memory = false;        // dedicated memory; otherwise the host cache is part of the device's memory
  int64_t head_kv_block_bytes = 0;    // the part of kv_block_bytes for an MTP head
  int64_t head_state_slot_bytes = 0;  // the part of state_slot_bytes for an MTP head
  int64_t kv_block_bytes = 0;
  int64_t state_slot_bytes = 0;
  EngineLimits limits;

  int64_t total_bytes() const noexcept {
    return weights_bytes + kv_bytes + state_bytes + checkpoint_bytes + workspace_bytes + adapter_bytes + vision_bytes -
           vision_host_bytes + (has_own_memory ? 0 : host_cache_bytes);
  }
};

struct MatrixSum {
  int64_t num_parameters = 0;
  int64_t size_bytes = 0;  // on the device
};

// The matrices that are kept in one format.
struct FormatSum {
  std::string format;        // Q4_K, 8bit, bfloat16
  int64_t num_matrices = 0;  // tensors of the files; stacked experts are one
  MatrixSum sum;
};

// The weights under another EngineOptions::quantize.
struct OtherWeights {
  std::string quantize;
  int64_t weights_bytes = 0;  // as in MemoryPlan
  int64_t token_bytes = 0;    // of layer_matrices and head_matrix
};

struct ModelInfo {
  std::string architecture;  // as config.json spells it
  std::string family;        // qwen3_5, qwen3, qwen2, llama
  int32_t num_layers = 0;
  int32_t num_attention_layers = 0;
  int32_t num_recurrent_layers = 0;
  int32_t hidden_size = 0;
  int32_t vocab_size = 0;
  int32_t context_length = 0;
  int64_t num_parameters = 0;               // of the tensors in use
  MatrixSum layer_matrices;                 // multiplied with every token
  MatrixSum head_matrix;                    // multiplied only with tokens whose successor is sampled
  std::string weight_dtype;                 // after --dtype
  std::vector<FormatSum> formats;           // of all matrices on the device, the largest sum first
  std::vector<OtherWeights> other_weights;  // what auto, 8bit and 4bit would take, except the present one
  std::string kv_dtype;
  std::string state_dtype;  // of recurrent states; empty if the model has none
  std::string device;       // including its instruction set
  std::string device_name;  // its name in EngineOptions::device; never auto
  bool has_tokenizer = false;
  bool has_chat_template = false;
  std::string chat_template_error;  // why the folder's template cannot be used; empty if it can, or if there is none
  std::vector<std::string> skipped_tensors;  // tensors in the files that this engine does not use
  std::vector<int32_t> eos_token_ids;
  bool has_vision = false;      // whether the engine runs a vision tower, so that requests may have images
  int32_t image_token_id = -1;  // the placeholder that an image's tokens have in a prompt; -1 if there is none
  ImageOptions image_options{};
  int64_t vision_parameters = 0;  // of the tower
  int32_t max_image_tokens = 0;   // of one image
  std::string vision_device;      // where the tower runs, which may be another device than the text's
  std::string vision_refusal;     // why requests may not have images; empty if they may
  int64_t loaded_bytes = 0;       // weights that the load put on this machine's device; 0 before it
  double load_seconds = 0;        // from the call of load_engine() until the engine was ready
  std::string weight_cache_note;  // how the load used EngineOptions::weight_cache, or would; empty if it does not
  // A hash of the outputs for a few tokens, as this device and this version compute them. Engines with equal
  // fingerprints give bit-identical answers, on any machine. Empty without EngineOptions::identify.
  std::string fingerprint;
  std::string pipeline;  // the layers of each stage; empty for a model on one machine
  MemoryPlan plan;
};

}  // namespace pagoda

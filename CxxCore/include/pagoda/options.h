// EngineOptions: the caller's choices when a model is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/lora.h"

namespace pagoda {

struct EngineOptions {
  std::string device = "auto";          // auto, cpu, metal, cuda, software, reference
  std::string dtype = "auto";           // of weights: auto (the model's own), float32, float16, bfloat16
  std::string quantize = "auto";        // weights: auto (as in the file), none (as dtype), bf16, 8bit, 4bit
  std::string kv_dtype = "auto";        // of the KV cache: auto (as dtype), float32, float16, bfloat16, int8
  std::string state_dtype = "float32";  // of recurrent states: float32, bfloat16
  bool keep_weights = true;             // whether repacked weights are cached in a file for the next load
  std::string weight_cache = "";  // folder of those files; "" = the user's cache folder, if there is much to repack
  int64_t weight_cache_disk_bytes = 0;  // maximum total size of the files; 0 = 64 GiB
  // Memory for experts of mixtures, which are then read from the model's files when a step needs them; answers are
  // bit-identical. 0 = all experts, or on the CPU, if the model does not fit, what the rest leaves. CPU only.
  int64_t expert_memory_bytes = 0;
  int32_t num_threads = 0;             // 0 = one per core
  int32_t max_num_seqs = 16;           // maximum running sequences; 0 = 16, or as many as a card can serve, up to 256
  int32_t max_num_batched_tokens = 0;  // tokens per step, prefill and decode; 0 = 256, or more on a GPU
  // Maximum milliseconds of a step in which sequences decode while prompts are read; 0 = about twice the time of a step
  // without prompts, on any device, -1 = no limit.
  double max_step_ms = 0;
  int32_t block_size = 16;          // tokens per KV block: 8, 16 or 32
  bool vision = true;               // loads the vision tower of a model that has one, so that prompts may have images
  std::string vision_file = "";     // the tower of a GGUF model (mmproj); "" = the one beside the model
  int32_t max_image_tokens = 4096;  // of one image; the tower's memory grows with it
  int64_t image_cache_bytes = 256 << 20;  // maximum size of the tower's results kept for later prompts
  int32_t max_model_len = 0;              // 0 = the model's context length, or as much of it as fits
  int64_t num_kv_blocks = 0;              // 0 = from kv_cache_bytes
  int64_t kv_cache_bytes = 0;             // 0 = enough for one full context per sequence, at most a share of the device
  bool prefix_cache = true;               // results computed for one request are reused by others with the same prefix
  int64_t checkpoint_bytes = 0;  // recurrent states kept for that; 0 = 32 states, at most a share of the device
  // Maximum bytes of prefixes kept in host memory after the device has evicted them; 0 = none. For devices with
  // dedicated memory.
  int64_t host_cache_bytes = 0;
  std::string prefix_cache_dir = "";    // folder where prefixes survive a restart; "" = none
  int64_t prefix_cache_disk_bytes = 0;  // maximum total size of its files; 0 = 8 GiB
  // Identifies the model's files by their whole content instead of modification times and a sample, so that machines
  // can share prefix files. Reads every model file once more.
  bool identify_content = false;
  bool identify = false;  // computes ModelInfo::fingerprint when loading; costs a step of 20 tokens
  // RoPE scaling for a longer context: "" = the model's own; none, or linear, dynamic or yarn with a factor and
  // optionally the trained context, as in yarn:4 or yarn:4:32768.
  std::string rope_scaling = "";
  // Drafts of the next tokens, which the model verifies several at a time; answers are bit-identical. auto, off,
  // lookup (from earlier text), mtp (from the model's own head).
  std::string speculation = "auto";
  int32_t max_drafts = 0;  // per sequence and step, 1 to 15; 0 = 15; at most 7 with recurrent state
  // LoRA adapters that requests can choose by name (Request::lora). More can be loaded later, within lora_bytes.
  std::vector<LoraSource> loras{};
  int64_t lora_bytes = 0;  // memory for the numbers of all adapters; 0 = exactly what `loras` take
  // One model over several machines: addresses of the later stages, as in host:9000,other:9000; or mpi, for the other
  // ranks started by mpirun. "" = this machine alone. A pipeline has no drafts, and no caches in host memory or on
  // disk.
  std::string pipeline = "";
  std::string pipeline_split = "";     // layers of each stage, this one first, as in 12,12; "" = by speed and memory
  int32_t pipeline_timeout_ms = 4000;  // a stage that is silent for this long counts as lost
};

}  // namespace pagoda

// EngineOptions: what a caller may choose when a model is loaded.
#pragma once

#include <cstdint>
#include <string>

namespace pagoda {

struct EngineOptions {
  std::string device = "auto";    // auto, cpu, metal, cuda, software, reference
  std::string dtype = "auto";     // of weights: auto (the model's own), float32, float16, bfloat16
  std::string quantize = "auto";  // weights: auto (8bit if the file is quantised), none (as dtype), bf16, 8bit, 4bit
  std::string kv_dtype = "auto";  // of the KV cache: auto (as dtype), float32, float16, bfloat16, int8
  std::string weight_cache = "";  // folder that keeps repacked weights for the next load; "" = none
  int64_t weight_cache_disk_bytes = 0;  // most bytes of files in that folder; 0 = 64 GiB
  int32_t num_threads = 0;              // 0 = one per core
  int32_t max_num_seqs = 16;            // sequences running at once
  int32_t max_num_batched_tokens = 0;   // tokens of one step, prefill and decode; 0 = 256, or more on a GPU
  // Most milliseconds of a step in which sequences decode and wait for their next token while prompts are read; 0 =
  // about twice a step in which nothing is read, on any device, -1 = as long as it takes.
  double max_step_ms = 0;
  int32_t block_size = 16;       // tokens per KV block: 8, 16 or 32
  int32_t max_model_len = 0;     // 0 = the model's context length, or as much of it as fits
  int64_t num_kv_blocks = 0;     // 0 = from kv_cache_bytes
  int64_t kv_cache_bytes = 0;    // 0 = what one full context per sequence needs, at most a share of the device
  bool prefix_cache = true;      // what was computed for one request is reused by others that begin the same
  int64_t checkpoint_bytes = 0;  // recurrent states kept for that; 0 = 32 of them, at most a share of the device
  // Most bytes of prefixes kept in the host's memory when the caches of the device need their room; 0 = none. For
  // devices with memory of their own.
  int64_t host_cache_bytes = 0;
  std::string prefix_cache_dir = "";    // folder where prefixes outlive the engine; "" = none
  int64_t prefix_cache_disk_bytes = 0;  // most bytes of prefix files in that folder; 0 = 8 GiB
  // Prefix files are identified by the whole content of the model's files, not by their times and a sample: for
  // prefixes that several machines share. Reads every file once more.
  bool identify_content = false;
  bool identify = false;  // fills ModelInfo::fingerprint when it loads; costs a step of 20 tokens
  // How rotations are scaled for a longer context: "" = as the model says; none, or linear, dynamic or yarn with a
  // factor and perhaps the trained context, as in yarn:4 or yarn:4:32768.
  std::string rope_scaling = "";
  // Drafts of the next tokens, which the model checks several at a time; answers are the same to the bit. auto, off,
  // lookup (from what stood before in the same text), mtp (from the model's own head).
  std::string speculation = "auto";
  int32_t max_drafts = 0;  // of a sequence in a step, 1 to 15; 0 = 15; with recurrent state at most 7
  // One model over several machines: addresses of the stages after this one, as in host:9000,other:9000; or mpi, for
  // the other ranks that mpirun started. "" = this machine alone. Without drafts and
  // without caches in host memory or on disk.
  std::string pipeline = "";
  std::string pipeline_split = "";     // layers of each stage, this one first, as in 12,12; "" = by speed and memory
  int32_t pipeline_timeout_ms = 4000;  // without a sign of life after which a stage counts as lost
};

}  // namespace pagoda

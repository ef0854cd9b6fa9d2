// Engine: a loaded model and the thread that runs it. Many requests at once; each gets its events through a callback.
// Thread rule: every member function may be called from any thread; events come from the engine's own thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pagoda/chat_template.h"
#include "pagoda/event.h"
#include "pagoda/grammar.h"
#include "pagoda/model_info.h"
#include "pagoda/profile.h"
#include "pagoda/sampling_params.h"
#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"
#include "pagoda/tokenizer.h"

namespace pagoda {
class Engine;
namespace engine {
class EngineThread;
}
}  // namespace pagoda

void pagoda_engine_retain(pagoda::Engine* PAGODA_NONNULL engine) noexcept;
void pagoda_engine_release(pagoda::Engine* PAGODA_NONNULL engine) noexcept;

namespace pagoda {

struct EngineOptions {
  std::string device = "auto";    // auto, cpu, metal, cuda, software, reference
  std::string dtype = "auto";     // of weights: auto (the model's own), float32, float16, bfloat16
  std::string quantize = "auto";  // weights: auto (8bit if the file is quantised), none (as dtype), bf16, 8bit, 4bit
  std::string kv_dtype = "auto";  // of the KV cache: auto (as dtype), float32, float16, bfloat16, int8
  std::string weight_cache = "";  // folder that keeps repacked weights for the next load; "" = none
  int64_t weight_cache_disk_bytes = 0;   // most bytes of files in that folder; 0 = 64 GiB
  int32_t num_threads = 0;               // 0 = one per core
  int32_t max_num_seqs = 16;             // sequences running at once
  int32_t max_num_batched_tokens = 256;  // tokens of one step, prefill and decode together: as many as stay in cache
  int32_t block_size = 16;               // tokens per KV block: 8, 16 or 32
  int32_t max_model_len = 0;             // 0 = the model's context length, or as much of it as fits
  int64_t num_kv_blocks = 0;             // 0 = from kv_cache_bytes
  int64_t kv_cache_bytes = 0;            // 0 = what one full context per sequence needs, at most a share of the device
  bool prefix_cache = true;              // what was computed for one request is reused by others that begin the same
  int64_t checkpoint_bytes = 0;         // recurrent states kept for that; 0 = 32 of them, at most a share of the device
  std::string prefix_cache_dir = "";    // folder where prefixes outlive the engine; "" = none
  int64_t prefix_cache_disk_bytes = 0;  // most bytes of prefix files in that folder; 0 = 8 GiB
};

// A file of a model that lives in memory (the embedded one). The bytes must outlive the engine.
struct ModelFile {
  std::string name;
  const uint8_t* PAGODA_NULLABLE data = nullptr;
  uint64_t size_bytes = 0;
};

// Where a model comes from: a folder or a .gguf file, files in memory when `files` is not empty, or a shape.
struct ModelSource {
  std::string directory;
  std::vector<ModelFile> files;
  std::string shape{};  // of a well-known model, such as qwen3.5-0.8b, with pseudo-random weights: for measuring
};

struct Request {
  std::vector<int32_t> prompt_ids;
  SamplingParams sampling;
  GrammarSpec grammar{};
  bool use_cache = true;        // false: reads nothing from the prefix cache and leaves nothing there
  std::string cache_salt = "";  // requests with different salts (tenants) share nothing; at most 256 bytes
  // Where other prompts will part from this one: numbers of leading prompt tokens behind which the recurrent state is
  // worth keeping, besides the ends of turns, a coarse grid and the end, which are found without.
  std::vector<int32_t> checkpoint_positions{};
};

struct SubmitResult {
  Status status;
  uint64_t request_id = 0;
};

struct CacheStats {
  int64_t num_lookups = 0;            // requests that looked for their prompt
  int64_t num_hits = 0;               // of those, with at least one token found
  int64_t num_cached_tokens = 0;      // prompt tokens found, over all hits
  int64_t num_recomputed_tokens = 0;  // computed again after a preemption, because they had been given up
  int64_t num_cached_blocks = 0;      // KV blocks whose tokens are known, in use or not
  int64_t num_block_evictions = 0;    // of those, given to other content so far
  int32_t num_checkpoints = 0;        // recurrent states kept
  int32_t max_checkpoints = 0;
  int64_t checkpoint_bytes = 0;  // of the states kept
  int64_t num_checkpoint_evictions = 0;
  // Of the last prompt that was known further than it could be reused, the token at which it parted; -1 before the
  // first.
  int32_t last_near_miss = -1;
};

struct DiskStats {         // of EngineOptions::prefix_cache_dir
  bool is_on = false;      // whether new files are written
  std::string off_reason;  // why not, when there is a folder
  int64_t num_files = 0;
  int64_t bytes = 0;
  int64_t max_bytes = 0;
  int64_t num_reads = 0;
  int64_t num_writes = 0;
  int64_t num_dropped = 0;    // not written because the disk was too slow
  int64_t num_evictions = 0;  // removed to stay below max_bytes
  int64_t num_bad_files = 0;  // removed because something in them was not as it should be
};

struct EngineStats {
  int32_t num_waiting = 0;
  int32_t num_running = 0;
  int64_t num_free_blocks = 0;  // without a sequence that holds them; they may be cached all the same
  int64_t num_blocks = 0;
  int32_t num_free_state_slots = 0;
  int32_t num_state_slots = 0;
  int64_t num_steps = 0;
  int64_t num_preemptions = 0;
  int64_t num_computed_tokens = 0;  // rows run through the model, recomputed ones included
  int64_t num_generated_tokens = 0;
  CacheStats cache;
  DiskStats disk;
};

struct ModelInfoResult {
  Status status;
  ModelInfo info;
};

// Progress of a load in [0, 1], on the calling thread.
using ProgressCallback = void (*)(void* PAGODA_NULLABLE context, double fraction);

class PAGODA_SHARED_REFERENCE(pagoda_engine_retain, pagoda_engine_release) Engine {
 public:
  SubmitResult submit(const Request& request, EventCallback PAGODA_NONNULL callback,
                      void* PAGODA_NULLABLE context) noexcept;
  void cancel(uint64_t request_id) noexcept;  // its finished event says cancelled, within one step
  EngineStats stats() const noexcept;
  ModelInfo info() const noexcept;

  // Whether the device times its ops from the next step on; and the sums since the last call, which waits for the step
  // in flight. Empty when profiling is off, when the device cannot, and after shut_down().
  void set_profiling(bool enabled) noexcept;
  std::vector<OpTime> take_profile() noexcept;

  // Null when the model folder has none.
  PAGODA_RETURNS_RETAINED Tokenizer* PAGODA_NULLABLE tokenizer() const noexcept;
  PAGODA_RETURNS_RETAINED ChatTemplate* PAGODA_NULLABLE chat_template() const noexcept;
  std::string generation_config_json() const noexcept;  // empty when the model folder has none

  // Ends every request as cancelled, joins the thread, frees the memory. Later submits fail with shut_down.
  void shut_down() noexcept;

  explicit Engine(std::unique_ptr<engine::EngineThread> thread) noexcept;
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

 private:
  friend void ::pagoda_engine_retain(Engine* PAGODA_NONNULL) noexcept;
  friend void ::pagoda_engine_release(Engine* PAGODA_NONNULL) noexcept;
  std::unique_ptr<engine::EngineThread> thread_;
  int64_t references_ = 1;  // atomic by builtin
};

// Loads a model and starts its thread; blocks. On failure returns null and fills `status`.
PAGODA_RETURNS_RETAINED Engine* PAGODA_NULLABLE load_engine(const ModelSource& source, const EngineOptions& options,
                                                            ProgressCallback PAGODA_NULLABLE progress,
                                                            void* PAGODA_NULLABLE context,
                                                            Status* PAGODA_NONNULL status) noexcept;

// Reads configuration and headers only, and plans the memory; loads no weight.
ModelInfoResult inspect_model(const ModelSource& source, const EngineOptions& options) noexcept;

// A tokenizer, or a chat template, without the model. On failure return null and fill `status`.
PAGODA_RETURNS_RETAINED Tokenizer* PAGODA_NULLABLE load_tokenizer(const ModelSource& source,
                                                                  Status* PAGODA_NONNULL status) noexcept;
PAGODA_RETURNS_RETAINED ChatTemplate* PAGODA_NULLABLE load_chat_template(const ModelSource& source,
                                                                         Status* PAGODA_NONNULL status) noexcept;

}  // namespace pagoda

// Engine: a loaded model and the thread that runs it. Runs many requests concurrently; each has an event callback.
// Thread rule: every member function may be called from any thread; events are sent from the engine's own thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pagoda/activity.h"
#include "pagoda/chat_template.h"
#include "pagoda/event.h"
#include "pagoda/grammar.h"
#include "pagoda/lora.h"
#include "pagoda/model_info.h"
#include "pagoda/model_source.h"
#include "pagoda/options.h"
#include "pagoda/prefix_match.h"
#include "pagoda/profile.h"
#include "pagoda/request.h"
#include "pagoda/statistics.h"
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

struct ModelInfoResult {
  Status status;
  ModelInfo info;
};

// Receives the progress of a load on the calling thread, in bytes of matrices on the device; returning false ends the
// load with `cancelled`.
using ProgressCallback = bool (*)(void* PAGODA_NULLABLE context, int64_t num_bytes, int64_t total_bytes);

class PAGODA_SHARED_REFERENCE(pagoda_engine_retain, pagoda_engine_release) Engine {
 public:
  SubmitResult submit(const Request& request, EventCallback PAGODA_NONNULL callback,
                      void* PAGODA_NULLABLE context) noexcept;
  void cancel(uint64_t request_id) noexcept;  // its finished event reports `cancelled`, within one step
  // The answer to Request::row_callback: the token is sampled from these logits, or is `token_id` if that is not
  // negative. The logits may be changed but not NaN or +infinity. Ignored if the request has ended.
  Status answer_row(uint64_t request_id, int32_t token_index, const float* PAGODA_NONNULL logits, int32_t num_logits,
                    int32_t token_id) noexcept;
  EngineStats stats() const noexcept;
  // Between open_watch() and the matching close_watch() the engine records the state of each request, and its last
  // steps. Without a watch it records nothing, and activity() is empty. Returns false if there is not enough memory.
  bool open_watch() noexcept;
  void close_watch() noexcept;
  Activity activity() const noexcept;
  ModelInfo info() const noexcept;
  // How much of a prompt a request with this Request::cache_salt would find in memory now. Never waits for a step and
  // changes nothing, not even the eviction order. Prefixes that are only on disk do not count.
  PrefixMatch find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const noexcept;
  // Compiles a grammar ahead of the requests that use it, which may take half a second of CPU time; submit() compiles
  // those that are not compiled yet. The engine keeps the grammars used last.
  bool has_grammar(const GrammarSpec& grammar) const noexcept;
  Status compile_grammar(const GrammarSpec& grammar) const noexcept;
  // The files on disk that together cover the longest prefix of a prompt, first to last; empty without a prefix folder.
  PrefixFilesResult prefix_files(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const noexcept;
  // Takes over a file written by another engine, from `path` in the folder's file system, as `name`. Its head is
  // checked now, its content when it is read; an invalid file is removed.
  Status add_prefix_file(const std::string& path, const std::string& name) noexcept;

  // All but unpin_prefix() wait for the engine's thread, so never call them from an event.
  // pin_prefix: keeps the longest cached prefix of these tokens from being evicted, until unpin_prefix(), or until a
  // request cannot run without its memory. At most half of the cache can be pinned.
  PrefixPin pin_prefix(const std::vector<int32_t>& ids, const std::string& cache_salt) noexcept;
  void unpin_prefix(uint64_t pin_id) noexcept;
  // save_prefix: writes the longest cached prefix of these tokens to a file: KV blocks and recurrent state.
  // restore_prefix: reads such a file back into the cache. Refuses files of another model, and damaged ones. Other
  // requests run in the meantime.
  SavedPrefix save_prefix(const std::vector<int32_t>& ids, const std::string& cache_salt,
                          const std::string& path) noexcept;
  SavedPrefix restore_prefix(const std::string& path, const std::string& cache_salt) noexcept;

  // load_lora: loads an adapter that later requests can choose by name, within EngineOptions::lora_bytes. Waits for the
  // engine's thread. unload_lora: no later request can; its memory is free when those that use it have ended.
  Status load_lora(const LoraSource& source) noexcept;
  Status unload_lora(const std::string& name) noexcept;
  std::vector<LoraInfo> loras() const noexcept;  // by name

  // set_profiling: whether the device times its ops from the next step on; with by_kernel a GPU runs one launch at a
  // time, and the entries are kernels instead of ops. take_profile: the totals since the last call; waits for the step
  // in flight. Empty if profiling is off or not supported, and after shut_down().
  void set_profiling(bool enabled, bool by_kernel) noexcept;
  std::vector<OpTime> take_profile() noexcept;

  // Null if the model folder has none.
  PAGODA_RETURNS_RETAINED Tokenizer* PAGODA_NULLABLE tokenizer() const noexcept;
  PAGODA_RETURNS_RETAINED ChatTemplate* PAGODA_NULLABLE chat_template() const noexcept;
  std::string generation_config_json() const noexcept;  // empty if the model folder has none

  // Ends all requests as cancelled, joins the thread, frees the memory. Later submits fail with shut_down.
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

// Reads only configuration and headers, and plans the memory; loads no weights.
ModelInfoResult inspect_model(const ModelSource& source, const EngineOptions& options) noexcept;

// Load only the tokenizer, or only the chat template. On failure they return null and fill `status`.
PAGODA_RETURNS_RETAINED Tokenizer* PAGODA_NULLABLE load_tokenizer(const ModelSource& source,
                                                                  Status* PAGODA_NONNULL status) noexcept;
PAGODA_RETURNS_RETAINED ChatTemplate* PAGODA_NULLABLE load_chat_template(const ModelSource& source,
                                                                         Status* PAGODA_NONNULL status) noexcept;

}  // namespace pagoda

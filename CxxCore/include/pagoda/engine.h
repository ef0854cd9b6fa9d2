// Engine: a loaded model and the thread that runs it. Many requests at once; each gets its events through a callback.
// Thread rule: every member function may be called from any thread; events come from the engine's own thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pagoda/activity.h"
#include "pagoda/chat_template.h"
#include "pagoda/event.h"
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

// Progress of a load in [0, 1], on the calling thread; false ends the load with `cancelled`.
using ProgressCallback = bool (*)(void* PAGODA_NULLABLE context, double fraction);

class PAGODA_SHARED_REFERENCE(pagoda_engine_retain, pagoda_engine_release) Engine {
 public:
  SubmitResult submit(const Request& request, EventCallback PAGODA_NONNULL callback,
                      void* PAGODA_NULLABLE context) noexcept;
  void cancel(uint64_t request_id) noexcept;  // its finished event says cancelled, within one step
  EngineStats stats() const noexcept;
  // Between open_watch() and as many close_watch() the engine keeps what each request does, and its last steps. Without
  // a watch it keeps nothing, and activity() is empty. False: there is no memory for it.
  bool open_watch() noexcept;
  void close_watch() noexcept;
  Activity activity() const noexcept;
  ModelInfo info() const noexcept;
  // How much of a prompt a request with this Request::cache_salt would find in memory now. Waits for no step; touches
  // nothing, the order in which prefixes are given up included. Prefixes that are only on disk do not count.
  PrefixMatch find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const noexcept;
  // The files on disk that together lead furthest into a prompt, first to last; empty without a folder for them.
  PrefixFilesResult prefix_files(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const noexcept;
  // Takes over a file that another engine wrote, from `path` in the file system of the folder, as `name`. Its head is
  // checked now, its content when it is read; a file that fails either is removed.
  Status add_prefix_file(const std::string& path, const std::string& name) noexcept;

  // Whether the device times its ops from the next step on; and the sums since the last call, which waits for the step
  // in flight. Empty when profiling is off, when the device cannot, and after shut_down(). With by_kernel a GPU runs
  // one launch at a time, and its entries are kernels instead of ops.
  void set_profiling(bool enabled, bool by_kernel) noexcept;
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

// EngineThread: a loaded model, its EngineCore and the thread that steps it.
// State: a mailbox of submissions and cancellations, filled by any thread and emptied between two steps.
// The thread also holds the state, so an engine may be released from inside one of its own events.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/load/loader.h"
#include "pagoda/activity.h"
#include "pagoda/event.h"
#include "pagoda/model_info.h"
#include "pagoda/prefix_match.h"
#include "pagoda/profile.h"
#include "pagoda/request.h"
#include "pagoda/statistics.h"

namespace pagoda::engine {

class EngineThread {
 public:
  static Result<std::unique_ptr<EngineThread>> start(LoadedModel loaded);
  ~EngineThread();  // as shut_down(); from inside an event the thread outlives this object

  // Validates the request immediately; a request that can never run is an error and sends no event.
  SubmitResult submit(const Request& request, EventCallback callback, void* context);
  void cancel(uint64_t request_id);
  Status answer_row(uint64_t request_id, int32_t token_index, std::span<const float> logits, int32_t token_id);
  PrefixMatch find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  bool has_grammar(const GrammarSpec& spec) const;
  Status compile_grammar(const GrammarSpec& spec) const;
  PrefixFilesResult prefix_files(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  Status add_prefix_file(const std::string& path, const std::string& name) const;
  // See Engine. All but unpin_prefix() wait for the thread, so never call them from an event (saved_prefixes.cpp).
  Status load_lora(const LoraSource& source);  // waits for the thread
  Status unload_lora(const std::string& name) const;
  std::vector<LoraInfo> loras() const;
  PrefixPin pin_prefix(const std::vector<int32_t>& ids, const std::string& cache_salt);
  void unpin_prefix(uint64_t pin_id);
  Result<int32_t> save_prefix(const std::vector<int32_t>& ids, const std::string& cache_salt, const std::string& path);
  Result<int32_t> restore_prefix(const std::string& path, const std::string& cache_salt);
  EngineStats stats() const;
  void open_watch();
  void close_watch() noexcept;  // once for each open_watch()
  Activity activity() const;
  void set_profiling(bool enabled, bool by_kernel = false);
  std::vector<OpTime> take_profile();  // waits for the thread, so never call it from an event
  // Returns once the thread has ended and the memory is free, also if several threads call it. From inside an
  // event, where the thread would wait for itself, it only requests the end.
  void shut_down();

  const ModelInfo& info() const noexcept;
  const CoreConfig& core_config() const noexcept;
  const std::string& layout() const noexcept;  // see LoadedModel
  const std::string& generation_config_json() const noexcept;
  std::shared_ptr<const text::SubwordTokenizer> tokenizer() const noexcept;
  std::shared_ptr<const text::JinjaTemplate> chat_template() const noexcept;

 private:
  struct State;
  explicit EngineThread(std::shared_ptr<State> state) noexcept;
  static void run(const std::shared_ptr<State>& state) noexcept;
  static void sleep(State& state, std::unique_lock<std::mutex>& lock) noexcept;
  std::optional<std::future<Status>> post(std::function<Status(EngineCore&)> body);  // empty after the end
  Status visit(std::function<Status(EngineCore&)> body);  // runs it between two steps, and waits for it
  Result<std::string> fingerprint();
  Result<PrefixStore::ContentPtr> copy_prefix(const std::string& salt, std::span<const int32_t> tokens);
  template <class Value, class Body>
  Value with_core(Value failed, Body&& body) const;

  bool is_own_thread() const noexcept { return std::this_thread::get_id() == thread_id_; }

  std::shared_ptr<State> state_;
  std::thread::id thread_id_;  // never changes after start()
  std::mutex join_mutex_;      // guards thread_; never taken by that thread
  std::thread thread_;
  std::mutex fingerprint_mutex_;
  std::string fingerprint_;  // of saved prefixes; empty until one is saved or read. Guarded by fingerprint_mutex_
};

}  // namespace pagoda::engine

// EngineThread: a loaded model, its EngineCore and the thread that steps it.
// State: a mailbox of submissions and cancellations, filled by any thread and emptied between two steps.
// The thread holds the state too, so an engine may be dropped from inside one of its own events.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "engine/loader.h"
#include "pagoda/event.h"
#include "pagoda/model_info.h"
#include "pagoda/profile.h"
#include "pagoda/request.h"
#include "pagoda/statistics.h"

namespace pagoda::engine {

class EngineThread {
 public:
  static Result<std::unique_ptr<EngineThread>> start(LoadedModel loaded);
  ~EngineThread();  // as shut_down()

  // Checks the request here and now; a request that can never run is an error and sends no event.
  SubmitResult submit(const Request& request, EventCallback callback, void* context);
  void cancel(uint64_t request_id);
  EngineStats stats() const;
  void set_profiling(bool enabled);
  std::vector<OpTime> take_profile();  // waits for the thread, so never call it from an event
  void shut_down();

  const ModelInfo& info() const noexcept;
  const std::string& generation_config_json() const noexcept;
  std::shared_ptr<const text::BpeTokenizer> tokenizer() const noexcept;
  std::shared_ptr<const text::JinjaTemplate> chat_template() const noexcept;

 private:
  struct State;
  explicit EngineThread(std::shared_ptr<State> state) noexcept;
  static void run(const std::shared_ptr<State>& state) noexcept;

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace pagoda::engine

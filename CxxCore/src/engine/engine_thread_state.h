// What an EngineThread shares with its callers: the mailbox, and the core while it lives.
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/engine_thread.h"

namespace pagoda::engine {

struct RowAnswer {
  uint64_t request_id = 0;
  int32_t token_index = 0;
  std::vector<float> logits;
  int32_t token_id = -1;
};

struct Visit {
  std::function<Status(EngineCore&)> body;
  std::promise<Status> status;
};

struct Mailbox {
  std::vector<std::unique_ptr<ActiveRequest>> submitted;
  std::vector<uint64_t> cancelled;
  std::vector<RowAnswer> rows;
  std::vector<Visit> visits;
  std::optional<bool> profiling;
  bool profiles_kernels = false;
  std::vector<std::promise<std::vector<OpTime>>> profile_takers;

  bool is_empty() const noexcept {
    return submitted.empty() && cancelled.empty() && rows.empty() && visits.empty() && !profiling &&
           profile_takers.empty();
  }
};

struct EngineThread::State {
  LoadedModel loaded;
  std::unique_ptr<EngineCore> core;  // owned by the thread, except during prepare(); freed when it ends

  mutable std::mutex mutex;  // guards the members below
  std::condition_variable wake;
  Mailbox mailbox;
  EngineStats final_stats;  // valid after the core is destroyed
  uint64_t last_id = 0;
  bool closing = false;
  int num_preparing = 0;  // callers inside core->prepare() or find_prefix(): the thread waits for them before it frees
                          // the core
  std::condition_variable prepared;
};

}  // namespace pagoda::engine

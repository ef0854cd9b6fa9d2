// The calls of EngineThread: each checks its arguments on the caller's thread and leaves the rest in the mailbox.
#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "engine/engine_thread_state.h"
#include "engine/load/lora.h"
#include "engine/step_status.h"

namespace pagoda::engine {

SubmitResult EngineThread::submit(const Request& request, EventCallback callback, void* context) {
  std::unique_lock lock(state_->mutex);
  if (state_->closing) return {make_error(StatusCode::shut_down, "the engine has been shut down"), 0};
  const uint64_t id = ++state_->last_id;
  ++state_->num_preparing;
  lock.unlock();
  Result<std::unique_ptr<ActiveRequest>> active = out_of_memory();
  try {
    active = state_->core->prepare(request, id, callback, context);
  } catch (const std::exception&) {  // no memory: `active` shows that
  }
  lock.lock();
  if (--state_->num_preparing == 0) state_->prepared.notify_all();
  if (!active.is_ok()) return {std::move(active.status), 0};
  if (state_->closing) return {make_error(StatusCode::shut_down, "the engine has been shut down"), 0};
  try {
    state_->mailbox.submitted.push_back(std::move(*active));
  } catch (const std::bad_alloc&) {
    return {out_of_memory(), 0};
  }
  lock.unlock();
  state_->wake.notify_one();
  return {ok_status(), id};
}

void EngineThread::cancel(uint64_t request_id) {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->closing) return;
    state_->mailbox.cancelled.push_back(request_id);
  }
  state_->wake.notify_one();
}

// The row is checked here, not on the engine's thread.
Status EngineThread::answer_row(uint64_t request_id, int32_t token_index, std::span<const float> logits,
                                int32_t token_id) {
  const size_t vocab = static_cast<size_t>(state_->loaded.core.vocab_size);
  if (logits.size() != vocab)
    return make_error(StatusCode::invalid_argument, concat("there are ", logits.size(), " logits instead of ", vocab));
  const auto bad =
      std::ranges::find_if_not(logits, [](float value) { return value <= std::numeric_limits<float>::max(); });
  if (bad != logits.end())
    return make_error(StatusCode::invalid_argument,
                      concat("the logit of token ", bad - logits.begin(), " was changed to NaN or infinity"));
  if (token_id < 0 && std::ranges::none_of(logits, [](float value) { return std::isfinite(value); }))
    return make_error(StatusCode::invalid_argument, "every logit was changed to minus infinity");
  if (token_id >= static_cast<int32_t>(vocab))
    return make_error(StatusCode::invalid_argument,
                      concat("token ", token_id, " was chosen; ids of this model are 0 to ", vocab - 1));
  RowAnswer answer{request_id, token_index, {logits.begin(), logits.end()}, token_id};
  {
    std::lock_guard lock(state_->mutex);
    if (state_->closing) return make_error(StatusCode::shut_down, "the engine has been shut down");
    state_->mailbox.rows.push_back(std::move(answer));
  }
  state_->wake.notify_one();
  return ok_status();
}

std::optional<std::future<Status>> EngineThread::post(std::function<Status(EngineCore&)> body) {
  std::future<Status> status;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->closing) return std::nullopt;
    state_->mailbox.visits.push_back({std::move(body), {}});
    status = state_->mailbox.visits.back().status.get_future();
  }
  state_->wake.notify_one();
  return status;
}

Status EngineThread::visit(std::function<Status(EngineCore&)> body) {
  auto status = post(std::move(body));
  try {
    if (status) return status->get();
  } catch (const std::future_error&) {  // the thread has ended
  }
  return make_error(StatusCode::shut_down, "the engine has been shut down");
}

// Calls body(core), counted among the callers inside prepare(), so that the core stays alive until it returns.
template <class Value, class Body>
Value EngineThread::with_core(Value failed, Body&& body) const {
  std::unique_lock lock(state_->mutex);
  if (state_->closing) {
    failed.status = make_error(StatusCode::shut_down, "the engine has been shut down");
    return failed;
  }
  ++state_->num_preparing;
  lock.unlock();
  Value value = std::move(failed);
  try {
    value = body(*state_->core);
  } catch (const std::exception&) {
    value.status = out_of_memory();
  }
  lock.lock();
  if (--state_->num_preparing == 0) state_->prepared.notify_all();
  return value;
}

PrefixMatch EngineThread::find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const {
  return with_core(PrefixMatch{}, [&](const EngineCore& core) { return core.find_prefix(prompt_ids, cache_salt); });
}

PrefixFilesResult EngineThread::prefix_files(const std::vector<int32_t>& prompt_ids,
                                             const std::string& cache_salt) const {
  return with_core(PrefixFilesResult{},
                   [&](const EngineCore& core) { return core.prefix_files(prompt_ids, cache_salt); });
}

Status EngineThread::add_prefix_file(const std::string& path, const std::string& name) const {
  return with_core(PrefixFilesResult{},
                   [&](const EngineCore& core) { return PrefixFilesResult{core.add_prefix_file(path, name), {}}; })
      .status;
}

bool EngineThread::has_grammar(const GrammarSpec& spec) const {
  std::lock_guard lock(state_->mutex);
  return state_->core && state_->core->has_grammar(spec);
}

Status EngineThread::compile_grammar(const GrammarSpec& spec) const {
  return with_core(PrefixFilesResult{},
                   [&](const EngineCore& core) { return PrefixFilesResult{core.compile_grammar(spec), {}}; })
      .status;
}

// The files are read on the calling thread; only the copy to the device waits for the step.
Status EngineThread::load_lora(const LoraSource& source) {
  const std::shared_ptr<Adapters>& adapters = state_->loaded.core.adapters;
  if (!adapters)
    return make_error(StatusCode::unsupported,
                      "the engine has no memory for LoRA adapters: it was loaded with none, and without lora_bytes");
  model::AdapterLayout layout;
  PAGODA_RETURN_IF_ERROR(visit([&](EngineCore&) {
    layout = *state_->loaded.model->adapter_layout();
    return ok_status();
  }));
  return load_adapter(source, layout, *adapters, [&](const Adapter& adapter, const model::AdapterImage& image) {
    return visit([&](EngineCore& core) { return core.place_adapter(adapter, image); });
  });
}

Status EngineThread::unload_lora(const std::string& name) const {
  const std::shared_ptr<Adapters>& adapters = state_->loaded.core.adapters;
  return adapters ? adapters->remove(name) : make_error(StatusCode::not_found, "no LoRA adapter is loaded");
}

std::vector<LoraInfo> EngineThread::loras() const {
  const std::shared_ptr<Adapters>& adapters = state_->loaded.core.adapters;
  return adapters ? adapters->list() : std::vector<LoraInfo>();
}

EngineStats EngineThread::stats() const {
  std::lock_guard lock(state_->mutex);
  if (!state_->core) return state_->final_stats;
  EngineStats stats = state_->core->stats();
  stats.num_waiting += static_cast<int32_t>(state_->mailbox.submitted.size());
  return stats;
}

void EngineThread::open_watch() {
  std::lock_guard lock(state_->mutex);
  if (state_->core) state_->core->activity().open();
}

void EngineThread::close_watch() noexcept {
  std::lock_guard lock(state_->mutex);
  if (state_->core) state_->core->activity().close();
}

Activity EngineThread::activity() const {
  std::lock_guard lock(state_->mutex);
  return state_->core ? state_->core->activity().read() : Activity();
}

void EngineThread::set_profiling(bool enabled, bool by_kernel) {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->closing) return;
    state_->mailbox.profiling = enabled;
    state_->mailbox.profiles_kernels = by_kernel;
  }
  state_->wake.notify_one();
}

std::vector<OpTime> EngineThread::take_profile() {
  std::future<std::vector<OpTime>> profile;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->closing) return {};
    profile = state_->mailbox.profile_takers.emplace_back().get_future();
  }
  state_->wake.notify_one();
  return profile.get();
}

}  // namespace pagoda::engine

// EngineThread: empties the mailbox, steps the core, publishes the statistics, and sleeps if there is nothing to do.
#include "engine/engine_thread.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "device/support.h"
#include "engine/load/lora.h"
#include "engine/step_status.h"

namespace pagoda::engine {

constexpr auto kIdleTime = std::chrono::seconds(1);            // before what the policy has learned is written
constexpr auto kOwnerPatience = std::chrono::milliseconds(5);  // between steps that only wait for owners of rows

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
  int num_preparing =
      0;  // callers inside core->prepare() or find_prefix(): the thread waits for them before it frees the core
  std::condition_variable prepared;
};

EngineThread::EngineThread(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

EngineThread::~EngineThread() {
  shut_down();
  if (thread_.joinable()) thread_.detach();  // dropped from inside one of its own events
}

Result<std::unique_ptr<EngineThread>> EngineThread::start(LoadedModel loaded) {
  auto state = std::make_shared<State>();
  state->loaded = std::move(loaded);
  if (!state->loaded.core.policy) state->loaded.core.policy = state->loaded.policy_file.read();
  state->core = std::make_unique<EngineCore>(*state->loaded.model, state->loaded.core);
  std::unique_ptr<EngineThread> engine(new EngineThread(state));
  try {
    engine->thread_ = std::thread([state] { run(state); });
    engine->thread_id_ = engine->thread_.get_id();
  } catch (const std::system_error& error) {
    return make_error(StatusCode::resource_exhausted, std::string("cannot start the engine's thread: ") + error.what());
  }
  return engine;
}

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

void EngineThread::shut_down() {
  {
    std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->wake.notify_all();
  if (is_own_thread()) return;
  std::lock_guard lock(join_mutex_);  // joining one thread twice would block forever
  if (thread_.joinable()) thread_.join();
}

// `device` is null in tests of a model without one. If a promise is not kept, its caller learns that from the future.
static void profile(device::Device* device, Mailbox& mailbox) noexcept {
  try {
    if (mailbox.profiling && device) {
      device->set_profiling(*mailbox.profiling);
      device::set_kernel_timing(*device, *mailbox.profiling && mailbox.profiles_kernels);
    }
    for (auto& taker : mailbox.profile_takers) taker.set_value(device ? device->take_profile() : std::vector<OpTime>());
  } catch (const std::exception&) {
  }
}

static void receive(EngineCore& core, std::vector<Visit>& visits) noexcept {
  for (Visit& visit : visits) {
    Status status;
    try {
      status = visit.body(core);
    } catch (const std::exception&) {
      status = out_of_memory();
    }
    visit.status.set_value(std::move(status));
  }
}

// One round between two sleeps. Submissions first, because a cancellation may refer to one of them.
static void work(EngineCore& core, device::Device* device, Mailbox& mailbox) noexcept {
  profile(device, mailbox);
  for (std::unique_ptr<ActiveRequest>& request : mailbox.submitted) core.add(std::move(request));
  for (uint64_t id : mailbox.cancelled) core.cancel(id);
  for (const RowAnswer& row : mailbox.rows) core.answer_row(row.request_id, row.token_index, row.logits, row.token_id);
  receive(core, mailbox.visits);
  core.step();
  mailbox.submitted.clear();
  mailbox.cancelled.clear();
  mailbox.rows.clear();
  mailbox.visits.clear();
  mailbox.profiling.reset();
  mailbox.profile_takers.clear();
}

// Until something arrives. Writing the small file after a second takes a fraction of a millisecond.
void EngineThread::sleep(State& state, std::unique_lock<std::mutex>& lock) noexcept {
  PolicyFile& file = state.loaded.policy_file;
  if (!file.is_due(state.core->policy())) return state.wake.wait(lock);
  if (state.wake.wait_for(lock, kIdleTime) == std::cv_status::no_timeout) return;
  lock.unlock();
  file.write(state.core->policy());
  lock.lock();
}

void EngineThread::run(const std::shared_ptr<State>& state) noexcept {
  EngineCore& core = *state->core;
  Mailbox mailbox;
  std::unique_lock lock(state->mutex);
  while (!state->closing) {
    if (state->mailbox.is_empty() && !core.has_work()) {
      sleep(*state, lock);
      continue;
    }
    if (state->mailbox.is_empty() && core.waits_for_owners()) state->wake.wait_for(lock, kOwnerPatience);
    std::swap(mailbox, state->mailbox);
    lock.unlock();
    work(core, state->loaded.device.get(), mailbox);
    lock.lock();
  }
  state->prepared.wait(lock, [&] { return state->num_preparing == 0; });
  std::swap(mailbox, state->mailbox);
  lock.unlock();
  profile(nullptr, mailbox);
  mailbox.visits.clear();  // their callers learn it from the futures
  for (std::unique_ptr<ActiveRequest>& request : mailbox.submitted) core.add(std::move(request));
  core.end_all(FinishReason::cancelled, ok_status());
  if (state->loaded.policy_file.is_due(core.policy())) state->loaded.policy_file.write(core.policy());
  lock.lock();
  try {
    state->final_stats = core.stats();
  } catch (const std::bad_alloc&) {  // in that case no events are sent
  }
  state->core.reset();
  lock.unlock();
  state->loaded.core.disk.reset();  // writes the queued entries
  lock.lock();
  state->loaded.model.reset();
  state->loaded.device.reset();
}

const ModelInfo& EngineThread::info() const noexcept { return state_->loaded.info; }
const CoreConfig& EngineThread::core_config() const noexcept { return state_->loaded.core; }
const std::string& EngineThread::layout() const noexcept { return state_->loaded.layout; }
const std::string& EngineThread::generation_config_json() const noexcept {
  return state_->loaded.generation_config_json;
}
std::shared_ptr<const text::SubwordTokenizer> EngineThread::tokenizer() const noexcept {
  return state_->loaded.tokenizer;
}
std::shared_ptr<const text::JinjaTemplate> EngineThread::chat_template() const noexcept {
  return state_->loaded.chat_template;
}

}  // namespace pagoda::engine

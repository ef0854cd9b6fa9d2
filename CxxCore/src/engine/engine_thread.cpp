// EngineThread: empties the mailbox, steps the core, publishes the statistics, and sleeps if there is nothing to do.
#include "engine/engine_thread.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "device/support.h"
#include "engine/engine_thread_state.h"
#include "engine/step_status.h"

namespace pagoda::engine {

constexpr auto kIdleTime = std::chrono::seconds(1);            // before what the policy has learned is written
constexpr auto kOwnerPatience = std::chrono::milliseconds(5);  // between steps that only wait for owners of rows

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

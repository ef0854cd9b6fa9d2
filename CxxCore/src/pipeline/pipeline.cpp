// Pipeline: frames from stage to stage, and recovery after one was lost.
#include "pipeline/pipeline.h"

#include <chrono>
#include <exception>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"

namespace pagoda::pipeline {

using namespace std::chrono_literals;

Result<StageConnection> greet(const StageAddress& stage, const Hello& own, int timeout_ms, int patience_ms) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    Status status;
    if (auto channel = stage.connect(); channel.is_ok()) {
      Bytes frame;
      status = (*channel)->send(encode(own), timeout_ms);
      if (status.is_ok()) status = (*channel)->receive(frame, kMaxHelloBytes, timeout_ms);
      if (status.is_ok()) {
        Result<Hello> hello = decode_hello(frame);
        if (hello.is_ok() && hello->model == own.model) return StageConnection{std::move(*channel), std::move(*hello)};
        status = hello.is_ok() ? make_error(StatusCode::invalid_argument, "it has another model") : hello.status;
        return make_error(status.code, "stage " + stage.name + ": " + status.message);
      }
    } else {
      status = channel.status;
    }
    if (std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(patience_ms))
      return make_error(StatusCode::device_error, "stage " + stage.name + " cannot be reached: " + status.message);
    std::this_thread::sleep_for(100ms);
  }
}

Pipeline::Pipeline(PipelineParts parts, std::vector<StageConnection> connections) : parts_(std::move(parts)) {
  start(std::move(connections));
  repair_ = std::thread([this] { run_repair(); });
}

Pipeline::~Pipeline() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  repair_.join();
  std::vector<std::unique_ptr<Link>> links;  // their threads may be in take(), which waits for the mutex
  {
    const std::lock_guard lock(mutex_);
    ++generation_;
    links = std::move(links_);
  }
}

// The old links no longer exist. Their frames still in transit have an older generation.
uint64_t Pipeline::start(std::vector<StageConnection> connections) {
  std::vector<std::unique_ptr<Link>> links;
  uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    generation = ++generation_;
    num_ready_ = 0;
    results_.clear();
  }
  for (size_t i = 0; i < connections.size(); ++i) {
    links.push_back(std::make_unique<Link>(
        std::move(connections[i].channel), parts_.timeout_ms,
        [this, i, generation](Bytes&& frame) { take(i, generation, std::move(frame)); },
        [this, i, generation](const Status& reason) { lose(i, generation, reason); }));
    links.back()->send(encode(parts_.assignments[i]));
  }
  const std::lock_guard lock(mutex_);
  links_ = std::move(links);
  return generation;
}

void Pipeline::take(size_t stage, uint64_t generation, Bytes&& frame) {
  const Kind kind = kind_of(frame);
  if (kind != Kind::rows && kind != Kind::ready) {
    const Status reason = kind == Kind::failed ? decode_failure(frame)
                                               : make_error(StatusCode::bad_file, "it sent a frame of an unknown kind");
    return lose(stage, generation, reason);
  }
  {
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return;
    if (kind == Kind::ready) ++num_ready_;
    else if (stage + 1 < links_.size()) return links_[stage + 1]->send(std::move(frame));
    else results_.push_back(std::move(frame));
  }
  changed_.notify_all();
}

void Pipeline::lose(size_t stage, uint64_t generation, const Status& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return;
    ++generation_;                                      // frames of the remaining stages are no longer valid
    if (!fault_.is_ok()) return changed_.notify_all();  // already in recovery
    const StatusCode code = reason.code == StatusCode::out_of_memory ? reason.code : StatusCode::device_error;
    fault_ = make_error(code, concat("stage ", stage + 1, " of the pipeline (", parts_.stages[stage].name,
                                     ") was lost: ", reason.message));
    first_fault_ = fault_;
    ++num_losses_;
  }
  changed_.notify_all();
}

Status Pipeline::wait_until_ready() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return num_ready_ == parts_.stages.size() || !first_fault_.is_ok(); });
  return first_fault_;
}

Status Pipeline::send(std::vector<Bytes>&& plans, Bytes&& rows) {
  const std::lock_guard lock(mutex_);
  if (!fault_.is_ok()) return fault_;
  if (num_accepted_ != num_losses_) return make_error(StatusCode::device_error, "a stage of the pipeline was lost");
  for (size_t i = 0; i < links_.size(); ++i) links_[i]->send(std::move(plans[i]));
  links_.front()->send(std::move(rows));
  return ok_status();
}

Status Pipeline::receive(std::vector<float>& rows) {
  Bytes frame;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !results_.empty() || !fault_.is_ok() || num_accepted_ != num_losses_; });
    if (!fault_.is_ok()) return fault_;
    if (num_accepted_ != num_losses_) return first_fault_;
    frame = std::move(results_.front());
    results_.pop_front();
  }
  return decode_rows(frame, rows);
}

Status Pipeline::ready() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

uint64_t Pipeline::num_losses() const noexcept {
  const std::lock_guard lock(mutex_);
  return num_losses_;
}

void Pipeline::accept_losses(uint64_t num_losses) noexcept {
  const std::lock_guard lock(mutex_);
  num_accepted_ = num_losses;
}

void Pipeline::run_repair() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_closing_ || !fault_.is_ok(); });
    if (is_closing_) return;
    std::vector<std::unique_ptr<Link>> links = std::move(links_);
    links_.clear();
    lock.unlock();
    links.clear();
    Status status = make_error(StatusCode::out_of_memory, "out of memory");
    try {
      status = reconnect();
    } catch (const std::exception&) {
    }
    lock.lock();
    if (!status.is_ok() && !is_closing_) changed_.wait_for(lock, 200ms, [&] { return is_closing_; });
  }
}

// All of them restart, including those that were not lost: steps they had begun are useless to the others.
Status Pipeline::reconnect() {
  std::vector<StageConnection> connections;
  for (const StageAddress& stage : parts_.stages) {
    PAGODA_ASSIGN_OR_RETURN(StageConnection greeted, greet(stage, parts_.hello, parts_.timeout_ms, 0));
    connections.push_back(std::move(greeted));
  }
  const uint64_t generation = start(std::move(connections));
  std::unique_lock lock(mutex_);
  while (num_ready_ < parts_.stages.size()) {
    if (is_closing_ || generation != generation_) return make_error(StatusCode::device_error, "a stage was lost again");
    changed_.wait_for(lock, 200ms);
  }
  if (generation == generation_) fault_ = {};
  return ok_status();
}

}  // namespace pagoda::pipeline

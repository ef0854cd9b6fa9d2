// Stage: opens the model's files, then serves one first rank after another.
#include "pipeline/stage.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/size_text.h"
#include "device/registry.h"
#include "io/config/rope.h"
#include "model/weights/tied_head.h"
#include "pipeline/link.h"
#include "pipeline/split.h"

namespace pagoda::pipeline {
namespace {

constexpr uint64_t kMaxConfigBytes = 4 << 20;

// Passed from the link's thread to the computing thread.
struct Inbox {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Bytes> plans, others;  // `others` includes rows
  Status lost;

  void put(Bytes&& frame) {
    {
      const std::lock_guard lock(mutex);
      (kind_of(frame) == Kind::plan ? plans : others).push_back(std::move(frame));
    }
    wake.notify_one();
  }
  void lose(const Status& status) {
    {
      const std::lock_guard lock(mutex);
      lost = status;
    }
    wake.notify_one();
  }
  // The next frame that is not a plan, and the oldest plan if it has rows.
  Status take(Bytes& frame, Bytes& plan, const std::atomic<bool>& stop) {
    std::unique_lock lock(mutex);
    const auto is_complete = [&] {
      return !others.empty() && (kind_of(others.front()) != Kind::rows || !plans.empty());
    };
    while (!is_complete()) {
      if (!lost.is_ok()) return lost;
      if (stop) return make_error(StatusCode::shut_down, "the stage was stopped");
      wake.wait_for(lock, std::chrono::milliseconds(200));
    }
    frame = std::move(others.front());
    others.pop_front();
    if (kind_of(frame) != Kind::rows) return ok_status();
    plan = std::move(plans.front());
    plans.pop_front();
    return ok_status();
  }
};

}  // namespace

Result<std::unique_ptr<Stage>> Stage::open(StageConfig config) {
  std::unique_ptr<Stage> stage(new Stage(std::move(config)));
  PAGODA_ASSIGN_OR_RETURN(stage->files_, io::open_model_files(stage->config_.source));
  PAGODA_ASSIGN_OR_RETURN(stage->config_json_, stage->files_->read_text("config.json", kMaxConfigBytes));
  PAGODA_ASSIGN_OR_RETURN(stage->model_config_,
                          io::parse_model_config(stage->config_json_, stage->files_->description() + "/config.json"));
  PAGODA_ASSIGN_OR_RETURN(auto checkpoint, io::Checkpoint::open(*stage->files_));
  stage->checkpoint_ = std::make_unique<io::Checkpoint>(std::move(checkpoint));
  model::find_bare_decoder(*stage->checkpoint_, stage->model_config_);
  PAGODA_RETURN_IF_ERROR(model::untie_different_head(*stage->checkpoint_, stage->model_config_));
  PAGODA_ASSIGN_OR_RETURN(stage->device_, device::make_device(stage->config_.device, stage->config_.num_threads));
  PAGODA_ASSIGN_OR_RETURN(auto speed, measure_speed(stage->config_.device, stage->config_.num_threads));
  stage->hello_ = {.model = model_identity(stage->config_json_, *stage->checkpoint_),
                   .model_name = stage->files_->description(),
                   .memory_bytes = stage->device_->info().memory_limit_bytes,
                   .speed = speed};
  return stage;
}

Status Stage::check_memory(const io::ModelConfig& part, const Assignment& assignment) const {
  PAGODA_ASSIGN_OR_RETURN(auto weights, model::check_weights(part, *checkpoint_, *device_, assignment.format));
  const EngineLimits& sizes = assignment.sizes;
  const cache::CacheLayout layout =
      model::cache_layout(part, {assignment.kv_dtype, assignment.state_dtype}, sizes.block_size);
  const int64_t caches =
      sizes.num_kv_blocks * layout.kv_block_bytes() + sizes.num_state_slots * layout.state_slot_bytes();
  const int64_t workspace = model::workspace_bytes(part, *device_, sizes);
  const int64_t limit = device_->info().memory_limit_bytes;
  log(concat("layers ", part.first_layer, " to ", part.end_layer - 1, ": weights ", size_text(weights.size_bytes),
             ", caches ", size_text(caches), ", workspace ", size_text(workspace)));
  if (weights.size_bytes + caches + workspace <= limit) return ok_status();
  return make_error(StatusCode::out_of_memory,
                    concat("layers ", part.first_layer, " to ", part.end_layer - 1, " do not fit: weights ",
                           size_text(weights.size_bytes), ", caches ", size_text(caches), ", workspace ",
                           size_text(workspace), "; the device allows ", size_text(limit)));
}

Status Stage::load_weights(const Assignment& assignment) {
  const auto begin = std::chrono::steady_clock::now();
  const int32_t num_layers = model_config_.num_layers;
  if (assignment.first_layer < 1 || assignment.first_layer >= assignment.end_layer || assignment.end_layer > num_layers)
    return make_error(StatusCode::invalid_argument, "a stage was assigned layers that the model does not have");
  io::ModelConfig part = model_config_;
  if (!assignment.rope_scaling.empty()) PAGODA_RETURN_IF_ERROR(io::set_rope_scaling(assignment.rope_scaling, part));
  part.first_layer = assignment.first_layer;
  part.end_layer = assignment.end_layer;
  PAGODA_RETURN_IF_ERROR(check_memory(part, assignment));
  model::WeightCache cache = config_.weight_cache;
  PAGODA_ASSIGN_OR_RETURN(auto model, model::load_model(part, *checkpoint_, *device_, assignment.format,
                                                        {assignment.kv_dtype, assignment.state_dtype},
                                                        assignment.sizes.block_size, nullptr, &cache));
  PAGODA_RETURN_IF_ERROR(model->allocate(assignment.sizes));
  model_ = std::move(model);
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  log(concat("loaded in ", time.count(), " ms", cache.note.empty() ? "" : "; " + cache.note));
  return ok_status();
}

Status Stage::load(const Assignment& assignment) {
  if (model_ && assignment == assignment_) return ok_status();
  model_.reset();
  PAGODA_RETURN_IF_ERROR(load_weights(assignment));
  assignment_ = assignment;
  return ok_status();
}

Status Stage::run(const Bytes& plan_frame, const Bytes& rows_frame, Bytes& out) {
  PAGODA_RETURN_IF_ERROR(decode_plan(plan_frame, assignment_.sizes, plan_));
  PAGODA_RETURN_IF_ERROR(decode_rows(rows_frame, in_));
  const size_t hidden = static_cast<size_t>(model_config_.hidden_size);
  const size_t num_tokens = static_cast<size_t>(plan_.batch.num_tokens());
  if (num_tokens > static_cast<size_t>(assignment_.sizes.max_num_tokens))
    return make_error(StatusCode::invalid_argument, "a step has more rows than were planned for");
  out_.resize(num_tokens * hidden);
  PAGODA_RETURN_IF_ERROR(model_->run_layers(plan_.batch, in_, out_));
  if (plan_.returns_all) {
    out = encode_rows(out_);
    return ok_status();
  }
  returned_.clear();
  for (const int32_t row : plan_.returned_rows) {
    const auto first = out_.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(row) * hidden);
    returned_.insert(returned_.end(), first, first + static_cast<std::ptrdiff_t>(hidden));
  }
  out = encode_rows(returned_);
  return ok_status();
}

Status Stage::serve(std::unique_ptr<Channel> channel, const std::atomic<bool>& stop) {
  Bytes frame, plan, out;
  PAGODA_RETURN_IF_ERROR(channel->receive(frame, kMaxHelloBytes, config_.timeout_ms));
  Result<Hello> other = decode_hello(frame);
  Status status = other.status;
  if (status.is_ok() && other->model != hello_.model)
    status = make_error(StatusCode::invalid_argument, "the stage has another model (" + hello_.model_name +
                                                          ") than the first (" + other->model_name + ")");
  if (!status.is_ok()) {
    (void)channel->send(encode_failure(status), config_.timeout_ms);
    return status;
  }
  PAGODA_RETURN_IF_ERROR(channel->send(encode(hello_), config_.timeout_ms));

  Inbox inbox;
  Link link(
      std::move(channel), config_.timeout_ms, [&](Bytes&& received) { inbox.put(std::move(received)); },
      [&](const Status& reason) { inbox.lose(reason); });
  bool is_ready = false;
  for (;;) {
    PAGODA_RETURN_IF_ERROR(inbox.take(frame, plan, stop));
    const Kind kind = kind_of(frame);
    if (kind == Kind::assign) {
      Result<Assignment> assignment = decode_assignment(frame);
      status = assignment.is_ok() ? load(*assignment) : assignment.status;
      is_ready = status.is_ok();
      out = FrameWriter(Kind::ready).take();
      if (is_ready) log("ready");
    } else if (kind == Kind::rows && is_ready) {
      status = run(plan, frame, out);
    } else {
      status = make_error(StatusCode::bad_file, "a stage received an unexpected frame");
    }
    link.send(status.is_ok() ? std::exchange(out, {}) : encode_failure(status));
    if (!status.is_ok()) {  // the first rank closes when it has read the reason
      log(status.message);
      while (inbox.take(frame, plan, stop).is_ok()) {
      }
      return status;
    }
  }
}

}  // namespace pagoda::pipeline

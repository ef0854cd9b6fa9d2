// PipelineModel: runs a step through all stages, with several steps in flight.
#include "pipeline/pipeline_model.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <span>
#include <utility>

#include "base/concat.h"
#include "pipeline/pipeline.h"

namespace pagoda::pipeline {
namespace {

Status unsupported(const char* what) {
  return make_error(StatusCode::unsupported, std::string(what) + " is not there for a model on several machines");
}

class PipelineModel final : public model::Model {
 public:
  PipelineModel(std::unique_ptr<Pipeline> pipeline, std::unique_ptr<model::Model> first, const EngineLimits& sizes,
                size_t hidden_size)
      : pipeline_(std::move(pipeline)), first_(std::move(first)), sizes_(sizes), hidden_size_(hidden_size) {}

  int32_t max_in_flight() const noexcept override { return static_cast<int32_t>(pipeline_->num_stages()) + 1; }
  Status launch(const model::ForwardBatch& batch) override;
  Status finish() override;
  Status forward(const model::ForwardBatch& batch) override {
    PAGODA_RETURN_IF_ERROR(launch(batch));
    return finish();
  }
  Status project(std::span<const int32_t> rows) override { return first_->project(rows); }
  std::span<const int32_t> picked() const noexcept override { return {}; }
  std::span<const float> logits() const noexcept override { return first_->logits(); }

  Status ready() const override { return pipeline_->ready(); }
  uint64_t num_losses() const noexcept override { return pipeline_->num_losses(); }
  void accept_losses(uint64_t num_losses) noexcept override { pipeline_->accept_losses(num_losses); }

  Status read_block(int32_t, int32_t, std::span<std::byte>) override { return unsupported("a cache on disk"); }
  Status write_block(int32_t, std::span<const std::byte>) override { return unsupported("a cache on disk"); }
  Status read_slot(int32_t, std::span<std::byte>) override { return unsupported("a cache on disk"); }
  Status write_slot(int32_t, std::span<const std::byte>) override { return unsupported("a cache on disk"); }
  Status allocate(const EngineLimits&) override { return ok_status(); }

 private:
  struct Step {
    size_t num_rows = 0;               // number of rows returned
    std::vector<int32_t> logits_rows;  // indices among the returned rows
    Status status;                     // status of this rank's own part
  };

  const std::unique_ptr<Pipeline> pipeline_;
  const std::unique_ptr<model::Model> first_;
  const EngineLimits sizes_;
  const size_t hidden_size_;
  std::deque<Step> steps_;  // in flight
  std::vector<float> rows_;
};

Status PipelineModel::launch(const model::ForwardBatch& batch) {
  Step& step = steps_.emplace_back();
  const bool returns_all = batch.keeps_states;
  step.logits_rows = batch.logits_rows;
  if (!returns_all) std::iota(step.logits_rows.begin(), step.logits_rows.end(), 0);
  step.num_rows = returns_all ? static_cast<size_t>(batch.num_tokens()) : batch.logits_rows.size();
  rows_.resize(static_cast<size_t>(batch.num_tokens()) * hidden_size_);
  step.status = first_->run_layers(batch, {}, rows_);
  if (!step.status.is_ok()) return step.status;
  std::vector<Bytes> plans;
  for (size_t i = 0; i < pipeline_->num_stages(); ++i) {
    const bool is_last = i + 1 == pipeline_->num_stages();
    plans.push_back(encode_plan(batch, batch.logits_rows, !is_last || returns_all, sizes_));
  }
  return step.status = pipeline_->send(std::move(plans), encode_rows(rows_));
}

Status PipelineModel::finish() {
  if (steps_.empty()) return make_error(StatusCode::internal, "finish() of a step that was not launched");
  const Step step = std::move(steps_.front());
  steps_.pop_front();
  PAGODA_RETURN_IF_ERROR(step.status);
  PAGODA_RETURN_IF_ERROR(pipeline_->receive(rows_));
  if (rows_.size() != step.num_rows * hidden_size_)
    return make_error(StatusCode::internal,
                      concat("the last stage gave ", rows_.size() / hidden_size_, " rows, not ", step.num_rows));
  if (step.num_rows == 0) return ok_status();
  PAGODA_RETURN_IF_ERROR(first_->take_states(rows_));
  return step.logits_rows.empty() ? ok_status() : first_->project(step.logits_rows);
}

}  // namespace

PipelineLoad::PipelineLoad(PipelineParts parts, std::vector<StageConnection> connections)
    : pipeline_(std::make_unique<Pipeline>(std::move(parts), std::move(connections))) {}
PipelineLoad::~PipelineLoad() = default;

Result<std::unique_ptr<model::Model>> PipelineLoad::finish(std::unique_ptr<model::Model> first,
                                                           const EngineLimits& sizes) {
  PAGODA_RETURN_IF_ERROR(pipeline_->wait_until_ready());
  const size_t hidden_size = static_cast<size_t>(pipeline_->hidden_size());
  return std::unique_ptr<model::Model>(
      std::make_unique<PipelineModel>(std::move(pipeline_), std::move(first), sizes, hidden_size));
}

}  // namespace pagoda::pipeline

// Pipeline: the links of the first rank to the other stages. Forwards the rows of each stage to the next, and those of
// the last stage to the caller.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "pipeline/link.h"
#include "pipeline/pipeline_model.h"

namespace pagoda::pipeline {

class Pipeline {
 public:
  Pipeline(PipelineParts parts, std::vector<StageConnection> connections);
  ~Pipeline();

  Status wait_until_ready();  // for the first load: returns the error of a stage that cannot load

  // Sends the plans of a step, one per stage, and the rows for the first stage.
  Status send(std::vector<Bytes>&& plans, Bytes&& rows);
  // The rows of the oldest step that was sent, or the reason why there will be none.
  Status receive(std::vector<float>& rows);

  Status ready() const;
  uint64_t num_losses() const noexcept;
  void accept_losses(uint64_t num_losses) noexcept;
  size_t num_stages() const noexcept { return parts_.stages.size(); }
  int32_t hidden_size() const noexcept { return parts_.hidden_size; }

 private:
  uint64_t start(std::vector<StageConnection> connections);  // returns the generation
  void take(size_t stage, uint64_t generation, Bytes&& frame);
  void lose(size_t stage, uint64_t generation, const Status& reason);
  void run_repair() noexcept;
  Status reconnect();

  const PipelineParts parts_;
  mutable std::mutex mutex_;  // guards the members below; never held while a link is created, ended or waited for
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Link>> links_;
  std::deque<Bytes> results_;
  size_t num_ready_ = 0;  // stages that have loaded their layers
  Status fault_;          // set when a stage is lost, until all are back
  Status first_fault_;    // an error during the first load
  uint64_t num_losses_ = 0, num_accepted_ = 0, generation_ = 0;
  bool is_closing_ = false;
  std::thread repair_;
};

}  // namespace pagoda::pipeline

// Stage: a rank after the first. Loads its assigned layers and runs them over the received rows until the first
// rank disconnects; then it waits for the next one, with its layers in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/device.h"
#include "io/model_files.h"
#include "model/model.h"
#include "pagoda/model_source.h"
#include "pipeline/channel.h"
#include "pipeline/messages.h"

namespace pagoda::pipeline {

struct StageConfig {
  ModelSource source;
  std::string device = "auto";
  int32_t num_threads = 0;
  model::WeightCache weight_cache{};
  int timeout_ms = 4000;
  std::function<void(const std::string& line)> log;
};

class Stage {
 public:
  // Reads configuration and headers; no weights yet.
  static Result<std::unique_ptr<Stage>> open(StageConfig config);

  // Serves one first rank until it disconnects, or until `stop` is set. The status is the reason.
  Status serve(std::unique_ptr<Channel> channel, const std::atomic<bool>& stop);

 private:
  explicit Stage(StageConfig config) : config_(std::move(config)) {}
  Status load(const Assignment& assignment);
  Status load_weights(const Assignment& assignment);
  Status check_memory(const io::ModelConfig& part, const Assignment& assignment) const;
  Status run(const Bytes& plan_frame, const Bytes& rows_frame, Bytes& out);
  void log(const std::string& line) const {
    if (config_.log) config_.log(line);
  }

  StageConfig config_;
  std::unique_ptr<io::ModelFiles> files_;
  std::string config_json_;
  std::unique_ptr<io::Checkpoint> checkpoint_;
  io::ModelConfig model_config_;
  Hello hello_;
  Assignment assignment_;                   // describes the loaded layers
  std::unique_ptr<device::Device> device_;  // outlives the model
  std::unique_ptr<model::Model> model_;
  StagePlan plan_;
  std::vector<float> in_, out_, returned_;
};

}  // namespace pagoda::pipeline

// PipelineModel: the first rank's model. Runs the first layers itself, sends rows through the other stages, and
// computes logits from the result. A lost stage ends all steps; meanwhile a thread tries to reconnect.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "pipeline/channel.h"
#include "pipeline/messages.h"

namespace pagoda::pipeline {

struct StageAddress {
  std::string name;  // for messages
  Connector connect;
};

// A connection whose first frames have been exchanged.
struct StageConnection {
  std::unique_ptr<Channel> channel;
  Hello hello;
};

// Tries for `patience_ms`, because a stage may start later.
Result<StageConnection> greet(const StageAddress& stage, const Hello& own, int timeout_ms, int patience_ms);

struct PipelineParts {
  std::vector<StageAddress> stages;  // in order, without the first
  std::vector<Assignment> assignments;
  Hello hello;  // of this rank
  int timeout_ms = 4000;
  int32_t hidden_size = 0;
};

class Pipeline;

// The stages are connected and start to load their layers while the caller loads its own.
class PipelineLoad {
 public:
  PipelineLoad(PipelineParts parts, std::vector<StageConnection> connections);
  ~PipelineLoad();
  // Waits for the stages. `first` is allocated.
  Result<std::unique_ptr<model::Model>> finish(std::unique_ptr<model::Model> first, const EngineLimits& sizes);

 private:
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace pagoda::pipeline

// The addresses of the stages in EngineOptions::pipeline, and how to connect to each.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/pipeline_model.h"

namespace pagoda::pipeline {

// host:port,host:port or mpi.
Result<std::vector<StageAddress>> find_stages(const std::string& text, int timeout_ms);

}  // namespace pagoda::pipeline

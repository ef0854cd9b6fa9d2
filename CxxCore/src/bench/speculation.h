// SpeculationBench: the same requests on one loaded model, with and without drafts, interleaved.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "engine/load/loader.h"
#include "pagoda/speculation_bench.h"

namespace pagoda::bench {

std::vector<SpeculationBenchPrompt> speculation_prompts();

Status check(const SpeculationBenchSettings& settings);

// The settings must have passed check(). Uses the given prompts if the model has a tokenizer, otherwise random ids.
Status measure_speculation(engine::LoadedModel& loaded, const SpeculationBenchSettings& settings,
                           const std::function<void(const SpeculationBenchRow&)>& report);

}  // namespace pagoda::bench

// Measurements of the public headers: limits of the machine, and the speed-up of speculative decoding.
#include "pagoda/bench.h"
#include "base/assign_or_return.h"

#include "api/guard.h"
#include "bench/device_limits.h"
#include "bench/limits.h"
#include "bench/speculation.h"
#include "engine/load/loader.h"
#include "pagoda/speculation_bench.h"

namespace pagoda {

MachineLimits measure_limits(int32_t num_threads) noexcept {
  return api::guarded_result<MachineLimits>([&](MachineLimits& limits) {
    limits = bench::measure(num_threads);
    return limits.status;
  });
}

MachineLimits measure_device_limits(const std::string& device, int32_t num_threads) noexcept {
  return api::guarded_result<MachineLimits>([&](MachineLimits& limits) {
    limits = bench::measure_device(device, num_threads);
    return limits.status;
  });
}

std::vector<SpeculationBenchPrompt> speculation_bench_prompts() noexcept {
  return api::value_or_empty([] { return bench::speculation_prompts(); });
}

Status bench_speculation(const ModelSource& source, const EngineOptions& options,
                         const SpeculationBenchSettings& settings, SpeculationBenchCallback callback,
                         void* context) noexcept {
  return api::guarded([&]() -> Status {
    PAGODA_RETURN_IF_ERROR(bench::check(settings));
    PAGODA_ASSIGN_OR_RETURN(engine::LoadedModel loaded, engine::load(source, options, nullptr));
    if (!source.shape.empty()) loaded.tokenizer = nullptr;  // no text of a shape can be predicted
    return bench::measure_speculation(loaded, settings,
                                      [&](const SpeculationBenchRow& row) { callback(context, &row); });
  });
}

}  // namespace pagoda

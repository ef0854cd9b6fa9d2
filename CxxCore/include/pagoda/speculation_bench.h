// Benchmark of speculative decoding: the same requests with and without drafts, interleaved, per kind of text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/model_source.h"
#include "pagoda/options.h"
#include "pagoda/statistics.h"
#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {

struct SpeculationBenchPrompt {
  std::string kind;  // code edit, JSON, prose, chat, or the caller's own
  std::string text;  // a user message, or the prompt itself if the model has no chat template
};

struct SpeculationBenchSettings {
  std::vector<SpeculationBenchPrompt> prompts;  // ignored if the model has no tokenizer: then ids are random
  int32_t num_tokens = 128;                     // per answer
  int32_t num_rounds = 5;                       // each runs once without and once with drafts
  int32_t num_sequences = 1;                    // concurrent, of the same prompt; every second one with temperature 0.6
  double accept = -1;  // probability that an oracle's draft is correct; below 0: the engine's own drafts
};

struct SpeculationBenchRow {
  std::string kind;
  double plain_tokens_per_second = 0;  // medians of the rounds
  double tokens_per_second = 0;
  double speedup = 0;              // median of the rounds' ratios
  SpeculationStats speculation;    // all rounds together, including the untimed first one
  int64_t num_differing_bits = 0;  // of tokens, log probabilities, finish reasons and usage; must be 0
};

// The built-in prompts, one of each kind.
std::vector<SpeculationBenchPrompt> speculation_bench_prompts() noexcept;

using SpeculationBenchCallback = void (*)(void* PAGODA_NULLABLE context, const SpeculationBenchRow* PAGODA_NONNULL row);

// Loads the model, measures one prompt after another and reports each row on the calling thread. The prefix cache is
// off.
Status bench_speculation(const ModelSource& source, const EngineOptions& options,
                         const SpeculationBenchSettings& settings, SpeculationBenchCallback PAGODA_NONNULL callback,
                         void* PAGODA_NULLABLE context) noexcept;

}  // namespace pagoda

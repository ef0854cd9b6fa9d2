// Sampler: one logits row and a request's parameters to one token. Pure; randomness is a function of (seed, token index).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "pagoda/event.h"
#include "pagoda/sampling_params.h"

namespace pagoda::sampler {

// What penalties need to know of a sequence. Owned by the sequence, updated as tokens are committed.
struct TokenCounts {
  std::vector<uint32_t> output;      // [vocab] occurrences in the output; empty when no penalty is set
  std::vector<uint8_t> in_prompt;    // [vocab] 1 when the token is in the prompt; empty when no repetition penalty is set
};

struct SampleInput {
  std::span<const float> logits;           // [vocab], f32, not changed
  const SamplingParams* params = nullptr;
  const TokenCounts* counts = nullptr;
  std::span<const int32_t> banned;         // ids that may not be sampled now (stop ids before min_tokens)
  uint64_t seed = 0;
  uint64_t token_index = 0;                // of the token being sampled, 0 = first of the output
};

struct SampleOutput {
  int32_t token_id = -1;
  float logprob = 0.0f;                    // raw distribution, when params ask for logprobs
  std::vector<TokenLogprob> top_logprobs;  // most likely first; ties: lower id first
};

// Reusable memory; one per engine, sized once for the vocabulary.
class Sampler {
 public:
  explicit Sampler(int32_t vocab_size);
  Status sample(const SampleInput& input, SampleOutput& output);  // device_error when the logits hold NaN

 private:
  std::vector<float> adjusted_;                     // logits after bias and penalties
  std::vector<std::pair<float, int32_t>> candidates_;
};

// Names the first field that is out of range: `temperature must be ...`.
Status check_sampling_params(const SamplingParams& params, int32_t vocab_size);

// Uniform in [0, 1) from a counter-based generator (Philox 4x32-10).
float uniform_at(uint64_t seed, uint64_t counter) noexcept;

}  // namespace pagoda::sampler

// Sampler: one logits row and a request's parameters to one token. Pure; randomness is a function of (seed, token
// index).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "pagoda/event.h"
#include "pagoda/sampling_params.h"
#include "sampler/logit_blocks.h"

namespace pagoda::sampler {

// What penalties need to know of a sequence. Owned by the sequence, updated as tokens are committed.
struct TokenCounts {
  std::vector<uint32_t> output;    // [vocab] occurrences in the output; empty when no penalty is set
  std::vector<uint8_t> in_prompt;  // [vocab] 1 when the token is in the prompt; empty when no repetition penalty is set
};

struct SampleInput {
  std::span<const float> logits;  // [vocab], f32, not changed
  const SamplingParams* params = nullptr;
  const TokenCounts* counts = nullptr;
  std::span<const uint64_t> allowed;  // bit i % 64 of word i / 64: token i may be sampled; empty: every token
  std::span<const int32_t> banned;    // ids that may not be sampled now (stop ids before min_tokens)
  int32_t forced_id = -1;             // the token to take whatever the logits say; its logprobs are reported as usual
  uint64_t seed = 0;
  uint64_t token_index = 0;  // of the token being sampled, 0 = first of the output
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

  // mask, bias, penalties, bans; temperature 0: the highest (lowest id on ties); else temperature, min-p, top-k, top-p
  // on the tempered distribution, and a draw by inverse CDF in id order. device_error when the logits hold NaN or +inf.
  Status sample(const SampleInput& input, SampleOutput& output);

 private:
  struct Candidate {
    float logit;
    int32_t id;
    uint64_t weight;  // of exp((logit - highest) / temperature), see logit_blocks.h
  };
  static bool more_likely(const Candidate& a, const Candidate& b) noexcept;
  Status check(const SampleInput& input);
  Status adjust(const SampleInput& input);
  int32_t pick(const SampleInput& input);
  void gather(size_t count);                            // the most likely `count`
  void gather_from(uint64_t least, float temperature);  // those of at least this weight
  void weigh(float temperature);
  uint64_t total_weight() const noexcept;
  void keep_top_p(uint64_t wanted, uint64_t least);
  int32_t draw(uint64_t random) const noexcept;
  void fill_logprobs(const SampleInput& input, SampleOutput& output);

  LogitBlocks raw_;                    // of the input
  LogitBlocks adjusted_;               // of the logits after bias, penalties and bans: the input, or changed_
  std::vector<float> changed_;         // [vocab]
  std::vector<Candidate> candidates_;  // what may be drawn, by ascending id
  std::vector<Candidate> scratch_;     // for selections that lose the order
};

// All that sample() asks of a row besides its logits, where it looks at nothing but the most likely tokens: whoever has
// the logits can draw the token with it. Every number is whole but for the temperature.
struct Draw {
  uint32_t top_k = 0;  // 0: sample() needs the logits themselves; 1: takes the highest
  float temperature = 1.0f;
  uint64_t top_p = ~uint64_t{0};  // in 2^-64
  uint64_t min_weight = 0;        // of kWeightOne
  uint64_t random = 0;
};

// max_top_k: of whoever draws.
Draw draw_of(const SampleInput& input, int32_t max_top_k) noexcept;

// Names the first field that is out of range: `temperature must be ...`.
Status check_sampling_params(const SamplingParams& params, int32_t vocab_size);

}  // namespace pagoda::sampler

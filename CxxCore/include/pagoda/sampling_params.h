// SamplingParams: how one request turns logits into tokens and when it ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pagoda {

struct LogitBias {
  int32_t token_id = 0;
  float bias = 0.0f;  // added to the logit before everything else; -100 or less removes the token
};

// Tokens that must not follow each other in an answer; of several, the last one is blocked.
struct BannedSequence {
  std::vector<int32_t> ids;
};

// Penalties for tokens that would continue a repetition of the prompt or the answer (sampler/dry.h).
struct DryParams {
  float multiplier = 0.0f;              // [0, 100], 0 = off
  float base = 1.75f;                   // [1, 10]
  int32_t allowed_length = 2;           // repeated tokens without a penalty, at least 1
  int32_t window = -1;                  // latest tokens that are searched; -1 = all
  std::vector<std::string> breakers{};  // a repetition does not extend across tokens that contain one of these
};

struct SamplingParams {
  float temperature = 0.0f;        // 0 = greedy
  int32_t top_k = 0;               // 0 = off
  float top_p = 1.0f;              // (0, 1]
  float min_p = 0.0f;              // [0, 1)
  float top_n_sigma = 0.0f;        // drops logits more than this many standard deviations below the highest; 0 = off
  float xtc_probability = 0.0f;    // [0, 1], how often all but the least likely of the likely tokens are dropped
  float xtc_threshold = 0.1f;      // (0, 1], the probability from which a token is a likely one
  float dynatemp_range = 0.0f;     // the temperature varies by up to this much with the entropy; 0 = off
  float dynatemp_exponent = 1.0f;  // (0, 10], applied to the entropy's share of its maximum
  DryParams dry;
  float repetition_penalty = 1.0f;  // > 0, divides or multiplies logits of tokens seen in prompt and output
  float presence_penalty = 0.0f;    // [-2, 2], tokens seen in the output
  float frequency_penalty = 0.0f;   // [-2, 2], times the count in the output
  std::vector<LogitBias> logit_bias;
  bool has_seed = false;          // false: the engine chooses a seed and does not report it
  uint64_t seed = 0;              // counter-based: the n-th token of a request depends on (seed, n) only
  int32_t max_tokens = 0;         // generated tokens; 0 = the rest of the context
  int32_t min_tokens = 0;         // until then, stop ids cannot be sampled and stop strings do not end the text
  bool ignore_eos = false;        // end-of-text ids of the model do not end the request
  std::vector<int32_t> stop_ids;  // additional ids that end the request; never shown in the text
  // Strings that end the request; the text is cut before the first one. They do not apply inside the thinking.
  std::vector<std::string> stop;
  std::vector<BannedSequence> banned;  // vLLM's bad_words
  // Tokens of thinking before the engine closes it with the model's own token. -1 = any; if max_tokens is 0 too, 32768,
  // and at most three quarters of the context that is left, so that an answer can follow.
  int32_t thinking_budget = -1;
  int32_t num_top_logprobs = -1;  // -1 = no logprobs, 0 = of the sampled token, n = and of the n most likely
};

}  // namespace pagoda

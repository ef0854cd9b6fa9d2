// Sampler: picks one token from one logits row and a request's parameters. Deterministic: randomness is a function of
// (seed, token index).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/draw.h"
#include "base/result.h"
#include "pagoda/event.h"
#include "pagoda/sampling_params.h"
#include "sampler/dry.h"
#include "sampler/listed_tokens.h"
#include "sampler/logit_blocks.h"

namespace pagoda::sampler {

using pagoda::kMaxTopLogprobs;

// The token counts that penalties need. Owned by the sequence, updated as tokens are committed.
struct TokenCounts {
  // Covers the whole vocabulary, even if a draft sampler sees only part of it.
  std::vector<uint32_t> output;    // [vocab] occurrences in the output; empty if no penalty is set
  std::vector<uint8_t> in_prompt;  // [vocab] 1 if the token is in the prompt; empty if no repetition penalty is set
  std::vector<int32_t> ids;        // those that either contains, each once
  bool is_listed = false;          // `ids` is complete; otherwise the sampler searches the counts

  void note_output(int32_t id) noexcept;  // `ids` must have room
  void note_prompt(int32_t id) noexcept;
};

struct SampleInput {
  std::span<const float> logits;  // [vocab], f32, read only
  const SamplingParams* params = nullptr;
  const TokenCounts* counts = nullptr;
  std::span<const int32_t> history;   // prompt and answer so far, for DRY
  DryScratch* dry_scratch = nullptr;  // set if params->dry is on
  std::span<const uint64_t> allowed;  // bit i % 64 of word i / 64: token i may be sampled; empty: every token
  std::span<const int32_t> banned;    // ids excluded at this position (stop ids before min_tokens)
  int32_t forced_id = -1;             // take this token regardless of the logits; its logprobs are reported as usual
  uint64_t seed = 0;
  uint64_t token_index = 0;  // index of the token being sampled; 0 is the first output token
};

struct SampleOutput {
  int32_t token_id = -1;
  float logprob = 0.0f;                    // of the raw distribution, if params request logprobs
  std::vector<TokenLogprob> top_logprobs;  // most likely first; ties: lower id first
};

// Holds reusable scratch memory; one per engine, sized once for the vocabulary.
class Sampler {
 public:
  explicit Sampler(int32_t vocab_size);

  // Mask, bias, penalties, DRY, bans, top-n-sigma; temperature 0: argmax (lowest id on ties); else temperature, top-k,
  // min-p, top-p and XTC, then a draw by inverse CDF in id order. Returns device_error if the logits contain NaN or
  // +inf.
  Status sample(const SampleInput& input, SampleOutput& output);

 private:
  struct Candidate {
    float logit;
    int32_t id;
    uint64_t weight;  // from exp((logit - highest) / temperature), see logit_blocks.h
  };
  static bool more_likely(const Candidate& a, const Candidate& b) noexcept;
  Status check(const SampleInput& input);
  Status adjust(const SampleInput& input);
  void change(const SampleInput& input);
  float& changed(size_t id);  // the logit of a token, in a block that may be changed
  void change_all();
  void apply_mask(std::span<const uint64_t> allowed);
  void apply_penalties(const SamplingParams& params, const TokenCounts& counts);
  int32_t pick(const SampleInput& input);
  float temperature_for(const SamplingParams& params) const;
  bool truncate(const SamplingParams& params, float temperature, bool needs_all);
  void keep_top_n_sigma(float n);
  void exclude_top_choices(float threshold);
  void gather(size_t count);  // the `count` most likely
  float bound_of(uint64_t weight, float temperature) const noexcept;
  // All that are as likely as one of weight `bound`, and have at least the other weight.
  void gather_from(uint64_t bound, uint64_t least, float temperature);
  void gather_mass(uint64_t top_p, float temperature);
  void gather_mass_exactly(uint64_t top_p, float temperature, float first);
  void keep_listed(uint64_t wanted);
  void weigh(float temperature);
  uint64_t total_weight() const noexcept;
  void keep_top_p(uint64_t wanted, uint64_t least);
  int32_t draw(uint64_t random) const noexcept;
  void fill_logprobs(const SampleInput& input, SampleOutput& output);

  LogitBlocks raw_;                    // the input logits
  LogitBlocks adjusted_;               // logits after bias, penalties and bans: blocks of the input, or of changed_
  std::vector<float> changed_;         // [vocab] only the blocks that differ from the input
  std::vector<uint8_t> is_changed_;    // [blocks] 1 if the block is in changed_
  std::vector<Candidate> candidates_;  // tokens that may be drawn, by ascending id
  ListedTokens listed_;                // the most likely tokens, for top-p of all
  std::vector<Candidate> scratch_;     // for selections that do not keep the order
};

// The logits of `input`, -infinity for the ids that its mask or bans exclude.
void copy_admissible(const SampleInput& input, std::span<float> to) noexcept;
bool is_admissible(const SampleInput& input, int32_t id) noexcept;

// How a device may sample the row; max_top_k: the largest top_k the device supports. Rows whose logits change need
// DrawLists::add() too.
Draw draw_of(const SampleInput& input, int32_t max_top_k) noexcept;
bool changes_logits(const SampleInput& input) noexcept;

// The log probabilities of a row that a device has sampled; output.top_logprobs must have room.
void fill_logprobs(const RowScore& score, int32_t num_top_logprobs, SampleOutput& output);

// A bias of this or less removes the token.
constexpr float kRemovingBias = -100.0f;

// Subtracted from the logit of a token that occurs `count` times in the output, which is not zero.
inline float penalty_of(const SamplingParams& params, uint32_t count) noexcept {
  return params.frequency_penalty * static_cast<float>(count) + params.presence_penalty;
}

// Reports the first field that is out of range: `temperature must be ...`.
Status check_sampling_params(const SamplingParams& params, int32_t vocab_size);

}  // namespace pagoda::sampler

// Policy: draft positions in order of probability, as many as raise the tokens per second, within a time
// budget.
#include "speculate/policy.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace pagoda::speculate {
namespace {

constexpr float kWeightOfPrior = 4, kForgetting = 0.95f, kForgettingOfAll = 0.998f;
constexpr double kDraftGuess = 0.15;  // cost of a draft step relative to a plain step, before it is measured
constexpr double kLeastGain = 1.03;   // drafts with a smaller expected gain are not taken
constexpr double kMaxLoss = 0.004;    // share of the decoding time
constexpr double kMaxHeadLoss = 0.002;
constexpr double kFreeLoss = 2;       // plain steps, granted once: the first drafts find cold memory
constexpr double kMaxCredit = 8;      // plain steps: limits how much of an old gain may be lost again
constexpr int64_t kPlainEvery = 128;  // steps between two without drafts, which measure the plain cost; fewer at first
constexpr int64_t kFirstSteps = 256, kPlainEveryFirst = 16;
constexpr int32_t kMaxRetryInterval = 1024;

constexpr std::array<float, 6> kFirstLookup = {0.3f, 0.4f, 0.6f, 0.75f, 0.85f, 0.92f};
constexpr float kFirstMtp = 0.6f, kFirstForced = 0.999f;

// Bucket 0 has no match; the others have matches of 1-3, 4-7, 8-15, 16-31 and more tokens.
size_t bucket_of(int32_t match_length) noexcept {
  size_t bucket = 0;
  for (const int32_t limit : {1, 4, 8, 16, 32}) bucket += match_length >= limit;
  return bucket;
}

size_t index_of(Source source) noexcept { return static_cast<size_t>(source); }

}  // namespace

void Acceptance::note(int32_t num_drafts, int32_t num_accepted, float forgetting) noexcept {
  for (int32_t i = 0; i < std::min({num_drafts, num_accepted + 1, kMaxPositions}); ++i) {
    const size_t position = static_cast<size_t>(i);
    tries[position] = tries[position] * forgetting + 1;
    hits[position] = hits[position] * forgetting + (i < num_accepted ? 1.0f : 0.0f);
  }
}

Policy::Policy() {
  for (size_t source = 0; source < prior_.size(); ++source)
    for (size_t bucket = 0; bucket < prior_[source].size(); ++bucket) {
      const float first = source == index_of(Source::lookup) ? kFirstLookup[bucket]
                          : source == index_of(Source::mtp)  ? kFirstMtp
                                                             : kFirstForced;
      prior_[source][bucket].tries.fill(kWeightOfPrior);
      prior_[source][bucket].hits.fill(kWeightOfPrior * first);
    }
  slots_.reserve(4096);
}

double Policy::probability(const Offer& offer, int32_t position) const noexcept {
  const size_t i = static_cast<size_t>(position);
  const Acceptance& prior = prior_[index_of(offer.source)][bucket_of(offer.match_length)];
  const float expected = prior.hits[i] / prior.tries[i];
  if (!offer.history) return expected;
  return (offer.history->hits[i] + kWeightOfPrior * expected) / (offer.history->tries[i] + kWeightOfPrior);
}

double Policy::expected(const Offer& offer) const noexcept {
  double survival = 1, sum = 0;
  for (int32_t position = 0; position < std::min(offer.num_drafts, kMaxPositions); ++position)
    sum += survival *= probability(offer, position);
  return sum;
}

// Never below the cost of a step without drafts: if it seems so, the difference is noise.
double Policy::cost_with_drafts(int32_t num_sequences, int32_t num_rows) const noexcept {
  return std::max(costs().estimate(num_rows), costs().estimate(num_sequences));
}

// The cost of a step without drafts, and without the head's work once that has been measured.
double Policy::plain_cost(int32_t num_sequences) const noexcept {
  const double without = num_sequences <= StepCosts::kMaxRows ? costs_[0].measured(num_sequences) : 0;
  return without > 0 ? without : costs().estimate(num_sequences);
}

bool Policy::is_plain_step() const noexcept {
  if (num_steps_ < kFirstSteps) return num_steps_ % kPlainEveryFirst == kPlainEveryFirst / 2;
  return num_steps_ % kPlainEvery == 0;
}

bool Policy::may_draft(int32_t num_sequences) const noexcept {
  if (num_sequences > StepCosts::kMaxRows || costs().measured(num_sequences) == 0) return false;  // not measured yet
  const double allowed = kMaxLoss * decode_seconds_ + kFreeLoss * costs().measured(num_sequences);
  return !is_plain_step() && account_ >= -allowed;
}

// How many of the likeliest positions maximise tokens per second; 0 if the gain is too small.
int32_t Policy::best_count(int32_t num_sequences) const noexcept {
  const double plain = costs().estimate(num_sequences);  // the head's work, if any, is done in both cases
  const double draft_cost = draft_cost_.value() > 0 ? draft_cost_.value() : kDraftGuess * plain;
  double tokens = num_sequences, best = num_sequences / plain * kLeastGain;
  int32_t count = 0, deepest = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    tokens += slots_[i].survival;
    // Draft steps run for all sequences together: as many as the sequence with the most drafts has.
    if (slots_[i].is_drafted_by_model) deepest = std::max(deepest, slots_[i].depth);
    const int32_t num_rows = num_sequences + static_cast<int32_t>(i) + 1;
    const double value = tokens / (cost_with_drafts(num_sequences, num_rows) + deepest * draft_cost);
    if (value <= best) continue;
    best = value;
    count = static_cast<int32_t>(i) + 1;
  }
  return count;
}

void Policy::admit(std::span<Offer> offers, int32_t num_sequences) {
  slots_.clear();
  head_index_ =
      std::min(static_cast<size_t>(std::bit_width(static_cast<uint32_t>(std::max(num_sequences, 1)))), heads_.size()) -
      1;
  for (size_t i = 0; i < offers.size(); ++i) {
    offers[i].num_admitted = 0;
    double survival = 1;
    for (int32_t position = 0; position < std::min(offers[i].num_drafts, kMaxPositions); ++position) {
      survival *= probability(offers[i], position);
      slots_.push_back(
          {static_cast<float>(survival), static_cast<int32_t>(i), position + 1, offers[i].source == Source::mtp});
    }
  }
  if (slots_.empty()) return;
  ++silent_steps_;
  if (!may_draft(num_sequences)) return;
  std::ranges::sort(slots_, std::greater{}, &Slot::survival);
  int32_t count = best_count(num_sequences);
  if (count == 0 && silent_steps_ > retry_interval_) {
    count = 1;
    retry_interval_ = std::min(2 * retry_interval_, kMaxRetryInterval);
  }
  if (count > 0) silent_steps_ = 0;
  for (int32_t i = 0; i < count; ++i) ++offers[slots_[i].offer].num_admitted;
}

// Gains are differences of medians, not of this step's seconds: a delayed step says nothing about its drafts.
void Policy::note_step(int32_t num_sequences, int32_t num_rows, int32_t num_tokens, double seconds,
                       double draft_seconds, int32_t num_draft_steps, bool feeds_head) noexcept {
  if (num_sequences <= 0 || num_rows > StepCosts::kMaxRows || !(seconds > 0)) return;
  ++num_steps_;
  has_head_ |= feeds_head;
  StepCosts& costs = costs_[feeds_head ? 1 : 0];
  costs.note(num_rows, seconds - draft_seconds);
  if (num_draft_steps > 0) draft_cost_.note(draft_seconds / num_draft_steps);
  const double plain = plain_cost(num_sequences);
  const double taken =
      std::max(costs.measured(num_rows), costs.measured(num_sequences)) + num_draft_steps * draft_cost_.value();
  const double gain = plain * num_tokens / num_sequences - taken;
  decode_seconds_ += taken;
  const double fed = costs_[1].measured(num_sequences), head_cost = fed > 0 ? std::max(fed - plain, 0.0) : 0;
  note_head(num_sequences, taken, feeds_head, num_draft_steps > 0 ? gain : -head_cost);
  if (num_rows == num_sequences && num_draft_steps == 0) return;
  saved_ += gain;
  account_ = std::min(account_ + gain, kMaxCredit * plain);
  if (gain > 0) retry_interval_ = 16;
}

// A paused head restarts when its loss has dropped to half of the allowed loss: each pause is longer than the last.
void Policy::note_head(int32_t num_sequences, double seconds, bool feeds_head, double gain) noexcept {
  Head& head = heads_[head_index_];
  const double plain = plain_cost(num_sequences);
  head.seconds += seconds;
  if (feeds_head) head.account = std::min(head.account + gain, kMaxCredit * plain);
  const double allowed = kMaxHeadLoss * head.seconds + kFreeLoss * plain;
  head.rests = head.account < -(head.rests ? allowed / 2 : allowed);
}

void Policy::note_drafts(const Offer& offer, int32_t num_accepted, Acceptance& history) noexcept {
  history.note(offer.num_admitted, num_accepted, kForgetting);
  prior_[index_of(offer.source)][bucket_of(offer.match_length)].note(offer.num_admitted, num_accepted,
                                                                     kForgettingOfAll);
}

}  // namespace pagoda::speculate

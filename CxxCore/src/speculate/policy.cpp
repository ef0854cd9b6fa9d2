// Policy: draft positions in order of probability, as many as raise the tokens per second, within a time
// budget.
#include "speculate/policy.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace pagoda::speculate {
namespace {

constexpr float kWeightOfPrior = 4, kForgetting = 0.95f, kForgettingOfAll = 0.998f;
constexpr double kDraftGuess = 0.15;     // cost of a draft step relative to a plain step, before it is measured
constexpr double kLeastGain = 1.03;      // drafts with a smaller expected gain are not taken
constexpr double kLeastSurvival = 0.05;  // later positions are not considered: with 16 sequences, sorting takes time
constexpr double kLikely = 0.5;  // drafts that are tried again together: many rows may cost little more than one
constexpr int32_t kMaxRetried = 16;
constexpr double kMaxLoss = 0.004;  // share of the decoding time
constexpr double kMaxHeadLoss = 0.002;
constexpr double kFreeLoss = 2;  // plain steps, granted once: the first drafts find cold memory
constexpr double kFreeHeadLoss = 4;
constexpr double kMaxCredit = 8;  // plain steps: limits how much of an old gain may be lost again
// Steps between two without drafts, which measure the plain cost; fewer at first. Odd: states are updated every 16
// tokens, in all sequences at once if they started together, and only or none of those steps would be measured.
constexpr int64_t kPlainEvery = 127, kPlainEveryFirst = 15, kFirstSteps = 256, kMaxPlainEvery = 4095;
constexpr double kMaxPlainLoss = 0.002;     // share of the decoding time that restarts around them may take
constexpr double kFewRestarts = 0.02;       // of a plain step: restarts that take less need not be measured around
constexpr int64_t kRecalledSteps = 16;      // of kFirstSteps, in a process that recalls costs
constexpr int64_t kFirstPlainRecalled = 1;  // until then costs may be those of a slower machine, and nothing is counted
constexpr int32_t kMaxRetryInterval = 1024;

constexpr std::array<float, 6> kFirstLookup = {0.3f, 0.4f, 0.6f, 0.75f, 0.85f, 0.92f};
constexpr float kFirstMtp = 0.6f, kFirstForced = 0.999f;

// Bucket 0 has no match; the others have matches of 1-3, 4-7, 8-15, 16-31 and more tokens.
size_t bucket_of(int32_t match_length) noexcept {
  size_t bucket = 0;
  for (const int32_t limit : {1, 4, 8, 16, 32}) bucket += match_length >= limit;
  return bucket;
}

// More rows are never cheaper than fewer, nor more expensive in proportion, except that they are encoded every time: if
// they seem so, it is noise, or a first step that found cold memory.
double plausible(double cost, double plain, double restart, int32_t num_sequences, int32_t num_rows) noexcept {
  return std::clamp(cost, plain, plain * num_rows / num_sequences + (num_rows > num_sequences ? restart : 0));
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

// The cost of a step without drafts, and without the head's work once that has been measured.
double Policy::plain_cost(int32_t num_sequences) const noexcept {
  const double without = num_sequences <= StepCosts::kMaxRows ? costs_[0].measured(num_sequences) : 0;
  return without > 0 ? without : costs().estimate(num_sequences);
}

// Where a change of kind costs much, the steps around them would cost more than they tell: they become rarer, and are
// two, of which the second repeats the first.
void Policy::plan_plain_steps(double plain, bool is_encoded) noexcept {
  if (!is_plain_step()) return;
  const double restart = restart_cost_.value();
  const bool is_second = num_steps_ > next_plain_;
  if (is_encoded && !is_second && (!restart_cost_.is_present() || restart > kFewRestarts * plain)) return;
  const int64_t usual = num_steps_ < kFirstSteps ? kPlainEveryFirst : kPlainEvery;
  const double bound = 2 * restart / (kMaxPlainLoss * plain);
  next_plain_ = num_steps_ + (std::max(usual, static_cast<int64_t>(std::min<double>(bound, kMaxPlainEvery))) | 1);
}

bool Policy::may_draft(int32_t num_sequences) const noexcept {
  if (num_sequences > StepCosts::kMaxRows || costs().measured(num_sequences) == 0) return false;  // not measured yet
  const double allowed = kMaxLoss * decode_seconds_ + kFreeLoss * costs().measured(num_sequences);
  return !is_plain_step() && account_ >= -allowed;
}

// How many of the likeliest positions maximise tokens per second; 0 if the gain is too small. Drafts after a plain step
// must also make up for the next plain step, which repeats none.
int32_t Policy::best_count(int32_t num_sequences) const noexcept {
  const double plain = costs().estimate(num_sequences);  // the head's work, if any, is done in both cases
  const double draft_cost = draft_cost_.value() > 0 ? draft_cost_.value() : kDraftGuess * plain;
  const double restart = restart_cost_.value(), later = last_.has_drafts ? 0 : restart;
  double tokens = num_sequences, best = num_sequences / plain * kLeastGain;
  int32_t count = 0, deepest = 0;
  const auto limit = std::min(slots_.size(), static_cast<size_t>(StepCosts::kMaxRows - num_sequences));
  for (size_t i = 0; i < limit; ++i) {
    tokens += slots_[i].survival;
    // Draft steps run for all sequences together: as many as the sequence with the most drafts has.
    if (slots_[i].is_drafted_by_model) deepest = std::max(deepest, slots_[i].depth);
    const int32_t num_rows = num_sequences + static_cast<int32_t>(i) + 1;
    const double cost = plausible(costs().estimate(num_rows), plain, restart, num_sequences, num_rows);
    const double value = tokens / (cost + deepest * draft_cost + later);
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
      if (position > 0 && survival < kLeastSurvival) break;
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
    const auto first_unlikely = std::ranges::find_if(slots_, [](const Slot& slot) { return slot.survival < kLikely; });
    count = std::clamp(static_cast<int32_t>(first_unlikely - slots_.begin()), 1, kMaxRetried);
    retry_interval_ = std::min(2 * retry_interval_, kMaxRetryInterval);
  }
  if (count > 0) silent_steps_ = 0;
  for (int32_t i = 0; i < count; ++i) ++offers[slots_[i].offer].num_admitted;
}

// Every sixteenth token of a sequence updates its recurrent state, with and without drafts. That time is subtracted:
// steps with many drafts do it more often, and would seem expensive. A GPU repeats the launches of a plain step after
// one of the same kind; after another (`is_fresh`) they are encoded, which with a small model takes as long as the
// step. That time is subtracted too: the rare steps without the head's work are all fresh, and would seem to save
// nothing.
void Policy::note_cost(const DecodeStep& step, bool is_fresh) noexcept {
  StepCosts& costs = costs_[step.feeds_head ? 1 : 0];
  const double seconds = step.seconds - step.draft_seconds, known = costs.measured(step.num_rows);
  const double restart = is_fresh ? restart_cost_.value() : 0;
  if (step.num_draft_steps > 0) draft_cost_.note(step.draft_seconds / step.num_draft_steps);
  if (step.num_updates > 0 && known > 0 && (!is_fresh || restart_cost_.is_present()))
    update_cost_.note(std::max(seconds - restart - known, 0.0) / step.num_updates);
  if (step.num_updates > 0 && !update_cost_.is_present()) return;
  const double rest = seconds - step.num_updates * update_cost_.value();
  if (is_fresh && known > 0) restart_cost_.note(std::max(rest - known, 0.0));
  if (is_fresh && !restart_cost_.is_present()) return;
  costs.note(step.num_rows, std::max(rest - restart, 0.1 * seconds));
}

// Gains are differences of medians, not of this step's seconds: a delayed step says nothing about its drafts.
void Policy::note_step(const DecodeStep& step) noexcept {
  if (step.num_sequences <= 0 || step.num_rows > StepCosts::kMaxRows || !(step.seconds > 0)) return note_break();
  const bool has_drafts = step.num_rows > step.num_sequences || step.num_draft_steps > 0;
  const Kind before = std::exchange(last_, Kind{step.num_sequences, has_drafts, step.feeds_head});
  const bool is_fresh = step.is_encoded && !has_drafts && last_ != before;
  knows_plain_ |= !has_drafts;
  has_head_ |= step.feeds_head;
  decode_seconds_ += step.seconds;
  note_cost(step, is_fresh);
  const StepCosts& costs = costs_[step.feeds_head ? 1 : 0];
  const double plain = plain_cost(step.num_sequences);
  plan_plain_steps(plain, step.is_encoded);
  ++num_steps_;
  if (costs.measured(step.num_rows) == 0) return;  // only seen with work besides its rows whose cost is not known yet
  const double taken = plausible(costs.estimate(step.num_rows), costs.estimate(step.num_sequences),
                                 restart_cost_.value(), step.num_sequences, step.num_rows) +
                       step.num_draft_steps * draft_cost_.value();
  const double gain = knows_plain_ ? plain * step.num_tokens / step.num_sequences - taken : 0;
  const double fed = costs_[1].measured(step.num_sequences), head_cost = fed > 0 ? std::max(fed - plain, 0.0) : 0;
  note_head(step, taken, step.num_draft_steps > 0 ? gain : -head_cost);
  if (has_drafts) note_gain(gain, plain);
  else if (before.has_drafts) note_gain(-restart_cost_.value(), plain);
}

// It begins as one that has measured for a while. Half of what each process may lose is granted again: a busy machine
// may have made good drafts look bad, and without another try nothing would correct that.
void Policy::begin_recalled() noexcept {
  num_steps_ = kFirstSteps - kRecalledSteps;
  next_plain_ = num_steps_ + kFirstPlainRecalled;
  knows_plain_ = false;
  account_ = std::max(account_, -kFreeLoss / 2 * costs_[0].estimate(1));
  for (size_t i = 0; i < heads_.size(); ++i)
    if (std::exchange(heads_[i].rests, false)) heads_[i].account = -kFreeHeadLoss / 2 * costs_[0].estimate(1 << i);
}

void Policy::note_gain(double gain, double plain) noexcept {
  saved_ += gain;
  account_ = std::min(account_ + gain, kMaxCredit * plain);
  if (gain > 0) retry_interval_ = 16;
}

// A paused head restarts when its loss has dropped to half of the allowed loss: each pause is longer than the last.
void Policy::note_head(const DecodeStep& step, double seconds, double gain) noexcept {
  Head& head = heads_[head_index_];
  const double plain = plain_cost(step.num_sequences);
  head.seconds += seconds;
  if (step.feeds_head) head.account = std::min(head.account + gain, kMaxCredit * plain);
  const double allowed = kMaxHeadLoss * head.seconds + kFreeHeadLoss * plain;
  head.rests = head.account < -(head.rests ? allowed / 2 : allowed);
}

void Policy::note_drafts(const Offer& offer, int32_t num_accepted, Acceptance& history) noexcept {
  history.note(offer.num_admitted, num_accepted, kForgetting);
  prior_[index_of(offer.source)][bucket_of(offer.match_length)].note(offer.num_admitted, num_accepted,
                                                                     kForgettingOfAll);
}

}  // namespace pagoda::speculate

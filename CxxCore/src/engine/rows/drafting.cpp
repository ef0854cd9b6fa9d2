// Drafting: forced tokens, tokens that followed the same text before, tokens of the MTP head; the policy admits them.
#include "engine/rows/drafting.h"

#include <algorithm>
#include <exception>

#include "engine/batch_builder.h"

namespace pagoda::engine {

using request::Sequence;
using speculate::Source;

static bool is_stop_id(const ActiveRequest& request, int32_t id) noexcept {
  return std::ranges::find(request.stop_ids, id) != request.stop_ids.end();
}

static speculate::Offer offer_of(ActiveRequest& request, Source source, size_t num_drafts) noexcept {
  return {.source = source,
          .num_drafts = static_cast<int32_t>(num_drafts),
          .history = &request.acceptance[static_cast<size_t>(source)]};
}

Drafting::Drafting(model::Model& model, scheduler::Scheduler& scheduler, MaskGate& masks, TokenSampler& sampler,
                   const CoreConfig& config, const TestHooks& hooks)
    : model_(model),
      scheduler_(scheduler),
      masks_(masks),
      sampler_(sampler),
      config_(config),
      hooks_(hooks),
      policy_(config.policy ? *config.policy : speculate::Policy()) {
  const size_t max_num_seqs = static_cast<size_t>(config_.limits.max_num_seqs);
  head_offers_.reserve(max_num_seqs);
  offers_.reserve(max_num_seqs);
  offer_requests_.reserve(max_num_seqs);
  if (!config_.uses_head) return;
  reserve_batch(batch_, config_.limits);
  sampler_.reserve(batch_);
  const int32_t num_drafted = model_.draft_vocab_size();
  if (num_drafted > 0 && num_drafted < config_.vocab_size) head_sampler_.emplace(num_drafted);
}

void Drafting::begin(ActiveRequest& request) noexcept {
  if (!request.prediction.empty()) past_texts_.add(request.sequence.cache_salt, request.prediction);
  request.prediction = {};
}

void Drafting::end(const ActiveRequest& request) noexcept {
  if (!request.lookup) return;
  past_texts_.add(request.sequence.cache_salt,
                  std::span(request.sequence.tokens).last(static_cast<size_t>(request.num_generated())));
}

void Drafting::draft(const RequestTable& requests) noexcept {
  if (config_.max_drafts == 0) return;
  try {
    head_seconds_ = 0;
    num_head_steps_ = 0;
    gather_offers(requests);
    if (!config_.uses_head) return;
    const Clock::time_point begin = Clock::now();
    draft_with_head();
    cut_head_drafts();
    head_seconds_ = seconds(Clock::now() - begin);
  } catch (const std::exception&) {
    for (Sequence* sequence : scheduler_.running()) sequence->drafts.clear();
  }
}

// Offers drafts of every sequence that decodes; the policy decides how many to use.
void Drafting::gather_offers(const RequestTable& requests) {
  offers_.clear();
  offer_requests_.clear();
  int32_t num_decoding = 0;
  for (Sequence* sequence : scheduler_.running()) {
    sequence->drafts.clear();
    if (!sequence->decodes()) continue;
    ++num_decoding;
    ActiveRequest& request = requests.of(*sequence);
    const int32_t max_drafts = std::min(config_.max_drafts, scheduler_.draft_limit(*sequence));
    if (!request.speculates || max_drafts <= 0) continue;
    if (hooks_.drafter) offer_proposed(request, max_drafts);
    else offer_drafts(request, max_drafts);
  }
  if (!hooks_.takes_all_drafts) policy_.admit(offers_, num_decoding);
  else
    for (speculate::Offer& offer : offers_) offer.num_admitted = offer.num_drafts;
  for (size_t i = 0; i < offers_.size(); ++i) {
    offer_requests_[i]->offer = offers_[i];
    if (offers_[i].source != Source::mtp)
      offer_requests_[i]->sequence.drafts.resize(static_cast<size_t>(offers_[i].num_admitted));
  }
}

void Drafting::add_offer(const speculate::Offer& offer, ActiveRequest& request) {
  offers_.push_back(offer);
  offer_requests_.push_back(&request);
}

// Takes drafts from TestHooks::drafter.
void Drafting::offer_proposed(ActiveRequest& request, int32_t max_drafts) {
  std::vector<int32_t>& drafts = request.sequence.drafts;
  hooks_.drafter->propose(request.sequence, max_drafts, drafts);
  if (request.has_document()) masks_.look_ahead(request, drafts);
  if (hooks_.admits_drafter && !drafts.empty()) add_offer(offer_of(request, Source::lookup, drafts.size()), request);
}

void Drafting::offer_drafts(ActiveRequest& request, int32_t max_drafts) {
  std::vector<int32_t>& drafts = request.sequence.drafts;
  draft_forced(request, max_drafts);
  const Source source = drafts.empty() ? Source::lookup : Source::forced;
  const int32_t match_length = drafts.empty() && request.lookup ? draft_from_texts(request, max_drafts) : 0;
  speculate::Offer best = offer_of(request, source, drafts.size());
  best.match_length = match_length;
  if (config_.uses_head && !policy_.head_rests() && source != Source::forced) {
    const speculate::Offer head = offer_of(request, Source::mtp, static_cast<size_t>(max_drafts));
    if (policy_.expected(head) > policy_.expected(best)) {
      drafts.clear();
      best = head;
    }
  }
  if (best.num_drafts > 0) add_offer(best, request);
}

// Tokens that the thinking budget or the grammar forces. They are still only drafts: the grammar may later
// allow the same text in different tokens.
void Drafting::draft_forced(ActiveRequest& request, int32_t max_drafts) {
  Thinking thinking = request.thinking;
  std::vector<int32_t>& drafts = request.sequence.drafts;
  const std::span<const int32_t> ahead = masks_.find_forced(request);
  auto next = ahead.begin();
  while (static_cast<int32_t>(drafts.size()) < max_drafts) {
    const bool is_free = !request.guide || thinking.is_open();
    int32_t id = thinking.forced_id();
    if (id < 0 && !is_free && next != ahead.end()) id = *next;
    if (id < 0 || is_stop_id(request, id)) return;
    drafts.push_back(id);
    thinking.note(id);
    if (!is_free && (next == ahead.end() || *next++ != id)) return;
  }
}

// What followed the same tokens before, in this text or in an earlier one. Returns the length of the match.
int32_t Drafting::draft_from_texts(ActiveRequest& request, int32_t max_drafts) {
  Sequence& sequence = request.sequence;
  request.lookup->follow(sequence.tokens);
  const speculate::LookupIndex::Match match = request.lookup->find(sequence.tokens);
  const speculate::PastTexts::Match past = past_texts_.find(sequence.cache_salt, sequence.tokens);
  if (past.length > match.length) speculate::PastTexts::draft_from(past, max_drafts, sequence.drafts);
  else speculate::draft_from(match, sequence.tokens, max_drafts, sequence.drafts);
  sequence.drafts.erase(std::ranges::find_if(sequence.drafts, request::is_image_key), sequence.drafts.end());
  cut(request);
  return std::max(match.length, past.length);
}

// Truncates drafts before the first that cannot be accepted, and before one that would end the request: rows after it
// are useless.
void Drafting::cut(ActiveRequest& request) {
  Thinking thinking = request.thinking;
  std::vector<int32_t>& drafts = request.sequence.drafts;
  size_t first_guided = drafts.size();
  for (size_t i = 0; i < drafts.size(); ++i) {
    const int32_t id = drafts[i], forced = thinking.forced_id();
    const bool is_guided = request.guide && !thinking.is_open();
    if (is_guided) first_guided = std::min(first_guided, i);
    thinking.note(id);
    const bool is_good = !is_stop_id(request, id) && (forced < 0 || forced == id) && (is_guided || i < first_guided);
    if (!is_good) drafts.resize(i);
  }
  if (first_guided >= drafts.size()) return;
  drafts.resize(first_guided + masks_.count_accepted(request, std::span(drafts).subspan(first_guided)));
}

// One pass per draft, each over all sequences that need one more.
void Drafting::draft_with_head() {
  head_offers_.clear();
  for (size_t i = 0; i < offers_.size(); ++i) {
    ActiveRequest& request = *offer_requests_[i];
    if (offers_[i].source != Source::mtp || offers_[i].num_admitted == 0) continue;
    if (!scheduler_.grow(request.sequence, offers_[i].num_admitted)) continue;
    request.draft_thinking = request.thinking;
    head_offers_.push_back(i);
  }
  for (int32_t index = 0; !head_offers_.empty(); ++index) run_head(index);
}

// Leaves the offers that continue. If the head fails, none: the step itself will report the error.
void Drafting::run_head(int32_t index) {
  begin_draft_batch(batch_);
  for (size_t offer : head_offers_) {
    ActiveRequest& request = *offer_requests_[offer];
    const Sequence& sequence = request.sequence;
    add_draft_row({.sequence = &sequence,
                   .token = index == 0 ? sequence.tokens.back() : sequence.drafts.back(),
                   .position = sequence.num_tokens() - 1 + index,
                   .previous_row = index == 0 ? -1 : request.previous_row},
                  config_.limits.block_size, config_.limits.max_blocks_per_seq, batch_);
    batch_.draws.push_back(sampler_.draw_for(request, request.draft_thinking, sequence.drafts, batch_));
    batch_.draws.back().num_logprobs = 0;
  }
  ++num_head_steps_;
  size_t num_kept = 0;
  if (model_.draft(batch_, index == 0).is_ok()) {
    for (size_t r = 0; r < head_offers_.size(); ++r) {
      const size_t offer = head_offers_[r];
      ActiveRequest& request = *offer_requests_[offer];
      request.previous_row = static_cast<int32_t>(r);
      if (sample_draft(request, r, index) && index + 1 < offers_[offer].num_admitted) head_offers_[num_kept++] = offer;
    }
  }
  head_offers_.resize(num_kept);
}

// Uses the random number of the model's own sample: with the same distribution, both draw the same token. False if
// nothing may follow.
bool Drafting::sample_draft(ActiveRequest& request, size_t row, int32_t index) {
  const size_t vocab = model_.logits().size() / batch_.draws.size();  // ids that the head drafts
  const std::span<const int32_t> picked = model_.picked();
  sampled_.token_id = request.draft_thinking.forced_id();  // whether or not the head could draft it
  if (sampled_.token_id < 0 && !picked.empty() && batch_.draws[row].top_k > 0) sampled_.token_id = picked[row];
  if (sampled_.token_id < 0) {
    sampler::SampleInput input = sample_input(request, request.draft_thinking, request.num_generated() + index);
    input.logits = model_.logits().subspan(row * vocab, vocab);
    const Status status = head_sampler_ ? head_sampler_->sample(input, sampled_) : sampler_.sample(input, sampled_);
    if (!status.is_ok()) return false;
  }
  if (is_stop_id(request, sampled_.token_id)) return false;
  request.sequence.drafts.push_back(sampled_.token_id);
  request.draft_thinking.note(sampled_.token_id);
  return true;
}

// The head knows no grammar. Its drafts took time, so the wait for their masks begins now.
void Drafting::cut_head_drafts() {
  masks_.begin_wait(Clock::now());
  for (size_t i = 0; i < offers_.size(); ++i)
    if (offers_[i].source == Source::mtp && offer_requests_[i]->guide) cut(*offer_requests_[i]);
}

void Drafting::note_drafts(ActiveRequest& request, int32_t num_drafts, int32_t num_accepted) {
  if (num_drafts == 0 || (hooks_.drafter && !hooks_.admits_drafter)) return;
  request.offer.num_admitted = num_drafts;
  policy_.note_drafts(request.offer, num_accepted, request.acceptance[static_cast<size_t>(request.offer.source)]);
  stats_.saved_ms = policy_.saved_seconds() * 1e3;
}

void Drafting::note_verified(ActiveRequest& request, int32_t num_drafts) noexcept {
  request.num_drafted += num_drafts;
  stats_.num_draft_steps += num_drafts > 0;
  stats_.num_drafted_tokens += num_drafts;
}

void Drafting::note_accepted(ActiveRequest& request, int32_t index) noexcept {
  ++request.num_accepted;
  ++stats_.num_accepted_tokens;
  ++stats_.num_accepted_at[static_cast<size_t>(index)];
}

void Drafting::note_step(speculate::DecodeStep step) noexcept {
  step.draft_seconds = head_seconds_;
  step.num_draft_steps = num_head_steps_;
  policy_.note_step(step);
}

}  // namespace pagoda::engine

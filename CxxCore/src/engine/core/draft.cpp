// EngineCore: drafts of the next tokens, and which were accepted.
#include <algorithm>
#include <exception>

#include "engine/batch_builder.h"
#include "engine/core/engine_core.h"

namespace pagoda::engine {

using request::Sequence;
using speculate::Source;

static bool is_stop_id(const ActiveRequest& request, int32_t id) noexcept {
  return std::ranges::find(request.stop_ids, id) != request.stop_ids.end();
}

// Called before a step is planned. If there is no memory, nothing is drafted.
void EngineCore::draft_tokens() noexcept {
  if (config_.max_drafts == 0) return;
  try {
    offer_all();
  } catch (const std::exception&) {
    for (Sequence* sequence : scheduler_.running()) sequence->drafts.clear();
  }
}

// Offers drafts of every sequence that decodes; the policy decides how many to use.
void EngineCore::offer_all() {
  offers_.clear();
  offer_requests_.clear();
  draft_seconds_ = 0;
  num_draft_steps_ = 0;
  int32_t num_decoding = 0;
  for (Sequence* sequence : scheduler_.running()) {
    sequence->drafts.clear();
    if (!sequence->decodes()) continue;
    ++num_decoding;
    ActiveRequest& request = *requests_.at(sequence->id);
    const int32_t max_drafts = std::min(config_.max_drafts, scheduler_.draft_limit(*sequence));
    if (!request.speculates || max_drafts <= 0) continue;
    if (config_.drafter) offer_proposed(request, max_drafts);
    else offer_drafts(request, max_drafts);
  }
  if (!config_.takes_all_drafts) policy_.admit(offers_, num_decoding);
  else
    for (speculate::Offer& offer : offers_) offer.num_admitted = offer.num_drafts;
  for (size_t i = 0; i < offers_.size(); ++i) {
    offer_requests_[i]->offer = offers_[i];
    if (offers_[i].source != Source::mtp)
      offer_requests_[i]->sequence.drafts.resize(static_cast<size_t>(offers_[i].num_admitted));
  }
  if (!config_.uses_head) return;
  const Clock::time_point begin = Clock::now();
  draft_with_head();
  cut_head_drafts();
  draft_seconds_ = seconds(Clock::now() - begin);
}

// One pass per draft, each over all sequences that need one more.
void EngineCore::draft_with_head() {
  draft_rows_.clear();
  for (size_t i = 0; i < offers_.size(); ++i) {
    Sequence& sequence = offer_requests_[i]->sequence;
    if (offers_[i].source != Source::mtp || offers_[i].num_admitted == 0) continue;
    if (!scheduler_.grow(sequence, offers_[i].num_admitted)) continue;
    offer_requests_[i]->draft_thinking = offer_requests_[i]->thinking;
    draft_rows_.push_back(i);
  }
  for (int32_t index = 0; !draft_rows_.empty(); ++index) {
    begin_draft_batch(draft_batch_);
    for (size_t r = 0; r < draft_rows_.size(); ++r) {
      ActiveRequest& request = *offer_requests_[draft_rows_[r]];
      const Sequence& sequence = request.sequence;
      add_draft_row({.sequence = &sequence,
                     .token = index == 0 ? sequence.tokens.back() : sequence.drafts.back(),
                     .position = sequence.num_tokens() - 1 + index,
                     .head_row = index == 0 ? -1 : request.head_row},
                    config_.limits.block_size, config_.limits.max_blocks_per_seq, draft_batch_);
      draft_batch_.draws.push_back(draw_for(request, request.draft_thinking, sequence.drafts, draft_batch_));
      draft_batch_.draws.back().num_logprobs = 0;
    }
    ++num_draft_steps_;
    if (!model_.draft(draft_batch_, index == 0).is_ok()) return;  // the step itself will report the error
    size_t num_kept = 0;
    for (size_t r = 0; r < draft_rows_.size(); ++r) {
      const size_t offer = draft_rows_[r];
      ActiveRequest& request = *offer_requests_[offer];
      request.head_row = static_cast<int32_t>(r);
      if (sample_draft(request, r, index) && index + 1 < offers_[offer].num_admitted) draft_rows_[num_kept++] = offer;
    }
    draft_rows_.resize(num_kept);
  }
}

// The head knows no grammar. Its drafts took time, so the wait for their masks begins now.
void EngineCore::cut_head_drafts() {
  begin_mask_wait(Clock::now());
  for (size_t i = 0; i < offers_.size(); ++i) {
    ActiveRequest& request = *offer_requests_[i];
    if (offers_[i].source == Source::mtp && request.guide) cut_drafts(request);
  }
}

// Uses the random number of the model's own sample: with the same distribution, both draw the same token. False if
// nothing may follow.
bool EngineCore::sample_draft(ActiveRequest& request, size_t row, int32_t index) {
  const size_t vocab = model_.logits().size() / draft_batch_.draws.size();  // ids that the head drafts
  const std::span<const int32_t> picked = model_.picked();
  sampled_.token_id = request.draft_thinking.forced_id();  // whether or not the head could draft it
  if (sampled_.token_id < 0 && !picked.empty() && draft_batch_.draws[row].top_k > 0) sampled_.token_id = picked[row];
  if (sampled_.token_id < 0) {
    sampler::SampleInput input = sample_input(request, request.draft_thinking, request.num_generated() + index);
    input.logits = model_.logits().subspan(row * vocab, vocab);
    if (!(draft_sampler_ ? *draft_sampler_ : sampler_).sample(input, sampled_).is_ok()) return false;
  }
  if (is_stop_id(request, sampled_.token_id)) return false;
  request.sequence.drafts.push_back(sampled_.token_id);
  request.draft_thinking.note(sampled_.token_id);
  return true;
}

// Takes drafts from CoreConfig::drafter.
void EngineCore::offer_proposed(ActiveRequest& request, int32_t max_drafts) {
  std::vector<int32_t>& drafts = request.sequence.drafts;
  config_.drafter->propose(request.sequence, max_drafts, drafts);
  if (request.guide && !request.thinking.is_open()) masks_.look_ahead(*request.guide, drafts);
  if (!config_.admits_drafter || drafts.empty()) return;
  offers_.push_back({.source = Source::lookup,
                     .num_drafts = static_cast<int32_t>(drafts.size()),
                     .history = &request.acceptance[static_cast<size_t>(Source::lookup)]});
  offer_requests_.push_back(&request);
}

void EngineCore::offer_drafts(ActiveRequest& request, int32_t max_drafts) {
  Sequence& sequence = request.sequence;
  speculate::Offer offer;
  draft_forced(request, max_drafts);
  offer.source = sequence.drafts.empty() ? Source::lookup : Source::forced;
  if (sequence.drafts.empty() && request.lookup) {
    request.lookup->follow(sequence.tokens);
    const speculate::LookupIndex::Match match = request.lookup->find(sequence.tokens);
    const speculate::PastTexts::Match past = past_texts_.find(sequence.cache_salt, sequence.tokens);
    offer.match_length = std::max(match.length, past.length);
    if (past.length > match.length) speculate::PastTexts::draft_from(past, max_drafts, sequence.drafts);
    else speculate::draft_from(match, sequence.tokens, max_drafts, sequence.drafts);
    sequence.drafts.erase(std::ranges::find_if(sequence.drafts, request::is_image_key), sequence.drafts.end());
    cut_drafts(request);
  }
  offer.num_drafts = static_cast<int32_t>(sequence.drafts.size());
  offer.history = &request.acceptance[static_cast<size_t>(offer.source)];
  if (config_.uses_head && !policy_.head_rests() && offer.source != Source::forced) {
    const speculate::Offer head{.source = Source::mtp,
                                .num_drafts = max_drafts,
                                .history = &request.acceptance[static_cast<size_t>(Source::mtp)]};
    if (policy_.expected(head) > policy_.expected(offer)) {
      sequence.drafts.clear();
      offer = head;
    }
  }
  if (offer.num_drafts == 0) return;
  offers_.push_back(offer);
  offer_requests_.push_back(&request);
}

// Tokens that the thinking budget or the grammar forces. They are still only drafts: the grammar may later
// allow the same text in different tokens.
void EngineCore::draft_forced(ActiveRequest& request, int32_t max_drafts) {
  Thinking thinking = request.thinking;
  std::vector<int32_t>& drafts = request.sequence.drafts;
  ahead_.clear();
  if (request.guide) masks_.find_forced(*request.guide, mask_deadline_, ahead_);
  auto next = ahead_.begin();
  while (static_cast<int32_t>(drafts.size()) < max_drafts) {
    const bool is_free = !request.guide || thinking.is_open();
    int32_t id = thinking.forced_id();
    if (id < 0 && !is_free && next != ahead_.end()) id = *next;
    if (id < 0 || is_stop_id(request, id)) return;
    drafts.push_back(id);
    thinking.note(id);
    if (!is_free && (next == ahead_.end() || *next++ != id)) return;
  }
}

// Truncates drafts before the first that cannot be accepted, and before one that would end the request: rows after it
// are useless.
void EngineCore::cut_drafts(ActiveRequest& request) {
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
  masks_.look_ahead(*request.guide, std::span(drafts).subspan(first_guided));
  masks_.find_ahead(*request.guide, mask_deadline_, ahead_);
  drafts.resize(first_guided + std::min(ahead_.size(), drafts.size() - first_guided));
}

void EngineCore::note_drafts(ActiveRequest& request, int32_t num_drafts, int32_t num_accepted) {
  if (num_drafts == 0 || (config_.drafter && !config_.admits_drafter)) return;
  request.offer.num_admitted = num_drafts;
  policy_.note_drafts(request.offer, num_accepted, request.acceptance[static_cast<size_t>(request.offer.source)]);
  speculation_.saved_ms = policy_.saved_seconds() * 1e3;
}

}  // namespace pagoda::engine

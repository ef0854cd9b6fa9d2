// MaskGate: waits for masks briefly, and holds the rows whose mask is late.
#include "engine/rows/mask_gate.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pagoda::engine {

// How long a step waits for masks, before its forward pass (for forced tokens) and again after it.
constexpr auto kMaskPatience = std::chrono::milliseconds(1);
constexpr auto kIdlePatience = std::chrono::milliseconds(5);  // for a step that can only wait
constexpr int32_t kMaxHeldRows = 16;                          // about 1 MB each; other late rows are waited for

MaskGate::MaskGate(std::shared_ptr<const text::SubwordTokenizer> tokenizer, bool has_thread,
                   std::function<void()> before_mask, int32_t max_num_seqs)
    : worker_(std::move(tokenizer), has_thread, std::move(before_mask)) {
  awaited_.reserve(static_cast<size_t>(max_num_seqs));
  settled_.reserve(static_cast<size_t>(max_num_seqs));
  ahead_.reserve(grammar::MaskWorker::kMaxAhead);
}

void MaskGate::begin(ActiveRequest& request) {
  if (request.grammar) request.guide = worker_.begin(request.grammar);
}

void MaskGate::forget(ActiveRequest& request) {
  if (!request.held_logits.empty()) --num_held_rows_;
}

bool MaskGate::accept(ActiveRequest& request, int32_t token_id) {
  const bool was_thinking = request.thinking.is_open();
  request.thinking.note(token_id);
  if (!request.guide || was_thinking) return false;
  request.document_position = {};
  request.has_begun = true;
  worker_.accept(*request.guide, token_id);
  if (find(request, Clock::time_point())) return request.document_position.must_end;
  await(request);
  return false;
}

void MaskGate::begin_wait(Clock::time_point now) noexcept { deadline_ = now + kMaskPatience; }

bool MaskGate::find(ActiveRequest& request, Clock::time_point deadline) {
  if (!request.document_position.is_ready()) request.document_position = worker_.find(*request.guide, deadline);
  return request.document_position.is_ready();
}

void MaskGate::await(ActiveRequest& request) {
  if (request.is_awaited) return;
  awaited_.push_back(request.sequence.id);
  request.is_awaited = true;
}

bool MaskGate::is_ready(ActiveRequest& request) {
  if (!request.has_document()) return true;
  return find(request, num_held_rows_ < kMaxHeldRows ? deadline_ : Clock::time_point::max());
}

void MaskGate::hold(ActiveRequest& request, std::span<const float> logits) {
  await(request);
  request.held_logits.assign(logits.begin(), logits.end());
  request.sequence.is_held = true;
  ++num_held_rows_;
  ++num_late_masks_;
}

std::vector<float> MaskGate::take_held(ActiveRequest& request) noexcept {
  --num_held_rows_;
  request.sequence.is_held = false;
  return std::exchange(request.held_logits, {});
}

std::span<const uint64_t> MaskGate::settle(const RequestTable& requests) {
  settled_.clear();
  std::erase_if(awaited_, [&](uint64_t id) {
    ActiveRequest* request = requests.find(id);
    if (!request) return true;
    // A row that is already late does not delay another step.
    if (!find(*request, request->sequence.is_held ? Clock::time_point() : deadline_)) return false;
    request->is_awaited = false;
    settled_.push_back(id);
    return true;
  });
  return settled_;
}

void MaskGate::wait_for_any() {
  if (!awaited_.empty()) worker_.wait_for_any(Clock::now() + kIdlePatience);
}

std::span<const int32_t> MaskGate::find_forced(ActiveRequest& request) {
  ahead_.clear();
  if (request.guide) worker_.find_forced(*request.guide, deadline_, ahead_);
  return ahead_;
}

size_t MaskGate::count_accepted(ActiveRequest& request, std::span<const int32_t> drafts) {
  worker_.look_ahead(*request.guide, drafts);
  worker_.find_ahead(*request.guide, deadline_, ahead_);
  return std::min(ahead_.size(), drafts.size());
}

}  // namespace pagoda::engine

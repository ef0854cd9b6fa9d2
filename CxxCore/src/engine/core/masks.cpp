// EngineCore: masks of grammars, which a worker computes in parallel with the steps, and rows whose mask is late.
// A late row keeps its logits, and its sequence is left out of the steps until the mask is ready; then its token is
// sampled as usual, so that no answer depends on how long a mask takes.
#include <algorithm>
#include <exception>

#include "engine/core/engine_core.h"
#include "engine/step_status.h"

namespace pagoda::engine {

// How long a step waits for masks, before its forward pass (for forced tokens) and again after it.
constexpr auto kMaskPatience = std::chrono::milliseconds(1);
constexpr auto kIdlePatience = std::chrono::milliseconds(5);  // for a step that can only wait
constexpr int32_t kMaxHeldRows = 16;                          // about 1 MB each; other late rows are waited for

void EngineCore::begin_mask_wait(Clock::time_point now) noexcept { mask_deadline_ = now + kMaskPatience; }

bool EngineCore::find_document_position(ActiveRequest& request, Clock::time_point deadline) {
  if (!request.document_position.is_ready()) request.document_position = masks_.find(*request.guide, deadline);
  return request.document_position.is_ready();
}

void EngineCore::await_document_position(ActiveRequest& request) {
  if (request.is_awaited) return;
  awaited_.push_back(request.sequence.id);
  request.is_awaited = true;
}

// Whether the next token can be sampled now.
bool EngineCore::has_mask(ActiveRequest& request) {
  if (!request.guide || request.thinking.is_open()) return true;
  return find_document_position(request, num_held_rows_ < kMaxHeldRows ? mask_deadline_ : Clock::time_point::max());
}

void EngineCore::hold_row(ActiveRequest& request, size_t logits_row) {
  const size_t vocab = static_cast<size_t>(config_.vocab_size);
  const std::span<const float> logits = model_.logits().subspan(logits_row * vocab, vocab);
  await_document_position(request);
  request.held_logits.assign(logits.begin(), logits.end());
  request.sequence.is_held = true;
  ++num_held_rows_;
  ++num_late_masks_;
}

// At the start of a step: applies the masks that became ready since the last one.
void EngineCore::settle_masks() noexcept {
  const size_t count = awaited_.size();  // more may be appended
  size_t num_kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto found = requests_.find(awaited_[i]);
    if (found == requests_.end()) continue;
    ActiveRequest& request = *found->second;
    // A row that is already late does not delay another step.
    if (!find_document_position(request, request.sequence.is_held ? Clock::time_point() : mask_deadline_)) {
      awaited_[num_kept++] = awaited_[i];
      continue;
    }
    request.is_awaited = false;
    resume(request);
  }
  awaited_.erase(awaited_.begin() + static_cast<std::ptrdiff_t>(num_kept),
                 awaited_.begin() + static_cast<std::ptrdiff_t>(count));
}

// Called when the mask of a late row has become ready.
void EngineCore::resume(ActiveRequest& request) noexcept {
  if (request.has_begun && request.document_position.must_end) return finish(request, FinishReason::stop, ok_status());
  if (!request.sequence.is_held || request.is_with_owner) return;
  const std::vector<float> logits = std::move(request.held_logits);
  if (logits.empty()) return finish(request, FinishReason::length, ok_status());
  --num_held_rows_;
  request.sequence.is_held = false;
  try {
    if (!hand_out_row(request, logits)) commit_token(request, 0, logits);
  } catch (const std::exception&) {
    finish(request, FinishReason::error, out_of_memory());
  }
}

// Called when all running requests wait for their masks. Returns soon, because new requests may arrive.
void EngineCore::wait_for_masks() noexcept {
  if (!awaited_.empty()) masks_.wait_for_any(Clock::now() + kIdlePatience);
}

}  // namespace pagoda::engine

// MaskGate: whether the masks of grammars are ready for the next tokens. A worker computes them in parallel with the
// steps. A row whose mask is late keeps its logits, and its sequence is left out of the steps until the mask is ready;
// then its token is sampled as usual, so that no answer depends on how long a mask takes.
// State: the worker, the requests whose next mask is awaited, and the number of rows held.
// Thread rule: the engine's thread; requests belong to its caller.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/active_request.h"
#include "engine/core/request_table.h"
#include "grammar/mask/worker.h"

namespace pagoda::engine {

class MaskGate {
 public:
  // before_mask: see MaskWorker.
  MaskGate(std::shared_ptr<const text::SubwordTokenizer> tokenizer, bool has_thread, std::function<void()> before_mask,
           int32_t max_num_seqs);

  void begin(ActiveRequest& request);   // requests its first mask, if it has a grammar
  void forget(ActiveRequest& request);  // it ends
  // A token of the answer: advances its thinking and its document. True if the document is known to end there; that may
  // also be found out later, see settle().
  bool accept(ActiveRequest& request, int32_t token_id);

  // A part of the step begins, in which masks may be waited for briefly: for forced tokens, and after the forward pass.
  void begin_wait(Clock::time_point now) noexcept;
  bool is_ready(
      ActiveRequest& request);  // whether its next token can be sampled; waits for a mask that is nearly ready
  void wait_for_mask(ActiveRequest& request) { find(request, Clock::time_point::max()); }
  // Keeps the logits of a row that is not ready.
  void hold(ActiveRequest& request, std::span<const float> logits);
  std::vector<float> take_held(ActiveRequest& request) noexcept;

  // At the start of a step: the requests whose awaited masks became ready since the last one. Valid until the next
  // call.
  std::span<const uint64_t> settle(const RequestTable& requests);
  bool is_waiting() const noexcept { return !awaited_.empty(); }
  void wait_for_any();  // for a step that can only wait; returns soon, because new requests may arrive

  // For drafts: tokens that the grammar forces, and the leading drafts that it accepts, as far as they are known when
  // the wait ends. Valid until the next call.
  std::span<const int32_t> find_forced(ActiveRequest& request);
  void look_ahead(ActiveRequest& request, std::span<const int32_t> drafts) {
    worker_.look_ahead(*request.guide, drafts);
  }
  size_t count_accepted(ActiveRequest& request, std::span<const int32_t> drafts);

  int64_t num_late_masks() const noexcept { return num_late_masks_; }
  grammar::MaskStats stats() const { return worker_.stats(); }

 private:
  bool find(ActiveRequest& request, Clock::time_point deadline);  // false if it is not computed by then
  void await(ActiveRequest& request);

  grammar::MaskWorker worker_;
  std::vector<uint64_t> awaited_;  // requests whose next mask is not ready
  std::vector<uint64_t> settled_;
  std::vector<int32_t> ahead_;  // tokens after an answer; reserved
  Clock::time_point deadline_;  // of the current wait
  int32_t num_held_rows_ = 0;
  int64_t num_late_masks_ = 0;
};

}  // namespace pagoda::engine

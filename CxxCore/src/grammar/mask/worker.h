// MaskWorker: finds the tokens that grammars allow, on a thread of its own: beside the forward pass whose logits the
// masks are for. Each answer has a Guide, which receives its tokens; the worker then computes the mask after them, and
// the masks of later positions as long as the grammar forces the token, or along drafts.
// Cheap masks come first: one that is not complete after a slice of work waits behind the others for a larger slice,
// and one that is not complete after the last slice (Automaton::kMaxWork) is refused. Partial results of a slice are
// kept. Thread rule: one thread, the engine's, calls it. Automata and matchers are the worker's alone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/result.h"
#include "grammar/mask/token_grammar.h"
#include "text/bpe/tokenizer.h"

namespace pagoda::grammar {

struct DocumentPosition {            // a position in a document
  std::shared_ptr<const Mask> mask;  // of the tokens that may come next; null: not known yet
  bool must_end = false;             // nothing can follow
  Status status;                     // not ok: the mask takes too much work or memory

  bool is_known() const noexcept { return mask != nullptr || !status.is_ok(); }
};

// Where one answer is in its grammar. Only MaskWorker reads or changes it.
class Guide : public std::enable_shared_from_this<Guide> {
 public:
  explicit Guide(std::shared_ptr<TokenGrammar> grammar);

 private:
  friend class MaskWorker;

  const std::shared_ptr<TokenGrammar> grammar_;
  std::optional<Matcher> matcher_;  // the worker's; after the tokens it has received

  // Guarded by the worker's mutex.
  std::vector<int32_t> accepted_;  // tokens of the answer that the matcher has not received yet
  std::vector<int32_t> drafts_;    // masks along these are wanted; empty: along the tokens that the grammar forces
  std::vector<int32_t> ahead_;     // tokens behind the answer; none while it is queued
  std::vector<DocumentPosition> positions_;  // after i of ahead_; empty: not known yet
  uint64_t version_ = 0;                     // of accepted_ and drafts_: what was found for another one is out of date
  size_t slice_ = 0;
  bool is_queued_ = false;  // or being worked on
  std::shared_ptr<Guide> next_in_queue_;
};

struct MaskStats {
  int64_t num_masks = 0;    // found, remembered ones included
  double mask_seconds = 0;  // of the worker
};

class MaskWorker {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMaxAhead = 16;  // positions after the answer so far

  // Without has_thread the calling thread computes the masks when it would otherwise wait, and no mask is ever late.
  // before_work, if set, is called before each slice of work by the thread that does it: for tests.
  MaskWorker(std::shared_ptr<const text::BpeTokenizer> tokenizer, bool has_thread,
             std::function<void()> before_work = {});
  ~MaskWorker();
  MaskWorker(const MaskWorker&) = delete;
  MaskWorker& operator=(const MaskWorker&) = delete;

  std::shared_ptr<Guide> begin(std::shared_ptr<TokenGrammar> grammar);  // requests its first mask
  void accept(Guide& guide, int32_t token_id);                          // a token of the answer; requests the next mask
  // The position after the accepted tokens; is_known() is false if the mask is not ready by the deadline.
  DocumentPosition find(Guide& guide, Clock::time_point deadline);
  // Requests the masks along drafts; at most kMaxAhead.
  void look_ahead(Guide& guide, std::span<const int32_t> drafts);
  // Of those drafts, the ones up to the first that the grammar does not take. None when they are unknown at the
  // deadline.
  void find_ahead(Guide& guide, Clock::time_point deadline, std::vector<int32_t>& out);
  // Tokens that the grammar leaves no choice about, likewise.
  void find_forced(Guide& guide, Clock::time_point deadline, std::vector<int32_t>& out);

  void wait_for_any(Clock::time_point deadline);  // until something has been found since the last call
  MaskStats stats() const;

 private:
  struct Queue {
    std::shared_ptr<Guide> first;
    Guide* last = nullptr;

    void push(std::shared_ptr<Guide> guide) noexcept;
    std::shared_ptr<Guide> pop() noexcept;
  };
  static constexpr size_t kSlices[] = {1 << 15, 1 << 18, Automaton::kMaxWork};  // the first is below 1 ms
  static constexpr int kMaxFirst = 16;  // guides of the first slice in a row while others wait

  void run() noexcept;
  void ask(Guide& guide) noexcept;
  void ask_anew(Guide& guide) noexcept;
  std::shared_ptr<Guide> take() noexcept;
  void work(std::unique_lock<std::mutex>& lock) noexcept;
  bool find_positions(Guide& guide, size_t max_work) noexcept;
  bool add_position(Matcher& matcher, size_t max_work);
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Clock::time_point deadline, Condition is_done);

  const std::shared_ptr<const text::BpeTokenizer> tokenizer_;
  const std::function<void()> before_work_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable asked_, found_;
  Queue queues_[std::size(kSlices)];
  int num_first_ = 0;  // guides of the first slice since one of the others
  bool has_thread_;
  bool has_found_ = false;  // since the last wait_for_any()
  bool is_closing_ = false;
  MaskStats stats_;

  // Of the guide being worked on.
  std::vector<int32_t> told_, drafts_, ahead_;
  std::vector<DocumentPosition> positions_;
  std::thread thread_;  // begun with the first guide
};

}  // namespace pagoda::grammar

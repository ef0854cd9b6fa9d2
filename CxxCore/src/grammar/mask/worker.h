// MaskWorker: computes the tokens that grammars allow, on its own thread, in parallel with the forward pass whose
// logits the masks are for. Each answer has a Guide, which receives its tokens; the worker then computes the mask after
// them, and the masks of later positions as long as the grammar forces the token, or along drafts. Cheap masks come
// first: one that is not complete after a slice of work waits behind the others for a larger slice, and one that is not
// complete after the last slice (Automaton::kMaxWork) is refused. Partial results of a slice are kept. Thread rule: one
// thread, the engine's, calls it. Only the worker uses automata and matchers.
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
  std::shared_ptr<const Mask> mask;  // the tokens that may come next; null: not ready
  bool must_end = false;             // nothing can follow
  Status status;                     // not ok: the mask takes too much work or memory

  bool is_ready() const noexcept { return mask != nullptr || !status.is_ok(); }
};

// The position of one answer in its grammar. Only MaskWorker reads or changes it.
class Guide : public std::enable_shared_from_this<Guide> {
 public:
  explicit Guide(std::shared_ptr<TokenGrammar> grammar);

 private:
  friend class MaskWorker;

  const std::shared_ptr<TokenGrammar> grammar_;
  std::optional<Matcher> matcher_;  // used only by the worker; its position is after the tokens it has received

  // Guarded by the worker's mutex.
  std::vector<int32_t> accepted_;            // tokens of the answer that the matcher has not received yet
  std::vector<int32_t> drafts_;              // masks along these are needed; empty: along the forced tokens
  std::vector<int32_t> ahead_;               // tokens after the answer; empty while it is queued
  std::vector<DocumentPosition> positions_;  // element i: after i tokens of ahead_; empty: not ready
  uint64_t version_ = 0;                     // of accepted_ and drafts_: results for another version are outdated
  size_t slice_ = 0;
  bool is_queued_ = false;  // or being worked on
  std::shared_ptr<Guide> next_in_queue_;
};

struct MaskStats {
  int64_t num_masks = 0;    // masks computed, including cached ones
  double mask_seconds = 0;  // time of the worker
};

class MaskWorker {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMaxAhead = 16;  // positions after the answer so far

  // Without has_thread the calling thread computes the masks when it would otherwise wait, and no mask is ever late.
  // before_work, if set, is called before each slice of work by the thread that does it: for tests.
  MaskWorker(std::shared_ptr<const text::SubwordTokenizer> tokenizer, bool has_thread,
             std::function<void()> before_work = {});
  ~MaskWorker();
  MaskWorker(const MaskWorker&) = delete;
  MaskWorker& operator=(const MaskWorker&) = delete;

  std::shared_ptr<Guide> begin(std::shared_ptr<TokenGrammar> grammar);  // requests its first mask
  void accept(Guide& guide, int32_t token_id);                          // a token of the answer; requests the next mask
  // The position after the accepted tokens; is_ready() is false if the mask is not ready by the deadline.
  DocumentPosition find(Guide& guide, Clock::time_point deadline);
  // Requests the masks along drafts; at most kMaxAhead.
  void look_ahead(Guide& guide, std::span<const int32_t> drafts);
  // The drafts before the first one that the grammar rejects. Empty if they are not computed by the deadline.
  void find_ahead(Guide& guide, Clock::time_point deadline, std::vector<int32_t>& out);
  // The tokens that the grammar forces; also empty if they are not computed by the deadline.
  void find_forced(Guide& guide, Clock::time_point deadline, std::vector<int32_t>& out);

  void wait_for_any(Clock::time_point deadline);  // until a mask was computed since the last call
  MaskStats stats() const;

 private:
  struct Queue {
    std::shared_ptr<Guide> first;
    Guide* last = nullptr;

    void push(std::shared_ptr<Guide> guide) noexcept;
    std::shared_ptr<Guide> pop() noexcept;
  };
  static constexpr size_t kSlices[] = {1 << 15, 1 << 18, Automaton::kMaxWork};  // the first is below 1 ms
  static constexpr int kMaxFirst = 16;  // consecutive guides of the first slice while others wait

  void run() noexcept;
  void ask(Guide& guide) noexcept;
  void ask_anew(Guide& guide) noexcept;
  std::shared_ptr<Guide> take() noexcept;
  void work(std::unique_lock<std::mutex>& lock) noexcept;
  bool find_positions(Guide& guide, size_t max_work) noexcept;
  bool add_position(Matcher& matcher, size_t max_work);
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Clock::time_point deadline, Condition is_done);

  const std::shared_ptr<const text::SubwordTokenizer> tokenizer_;
  const std::function<void()> before_work_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable asked_, found_;
  Queue queues_[std::size(kSlices)];
  int num_first_ = 0;  // guides of the first slice since one of the others
  bool has_thread_;
  bool has_found_ = false;  // since the last wait_for_any()
  bool is_closing_ = false;
  MaskStats stats_;

  // Scratch memory for the guide being worked on.
  std::vector<int32_t> accepted_, drafts_, ahead_;
  std::vector<DocumentPosition> positions_;
  std::thread thread_;  // started with the first guide
};

}  // namespace pagoda::grammar

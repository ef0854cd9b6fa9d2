// MaskWorker: works on one guide at a time, cheap ones first.
#include "grammar/mask/worker.h"

#include <algorithm>
#include <bit>
#include <new>
#include <system_error>
#include <utility>

namespace pagoda::grammar {

// The token that is the only one in a mask, or -1.
static int32_t only_allowed(std::span<const uint64_t> mask) noexcept {
  int32_t id = -1;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    if (id >= 0 || std::popcount(mask[i]) > 1) return -1;
    id = static_cast<int32_t>(i * 64) + std::countr_zero(mask[i]);
  }
  return id;
}

// An answer cannot continue without its mask, so few tokens are ever pending, and the reserved memory is sufficient.
Guide::Guide(std::shared_ptr<TokenGrammar> grammar) : grammar_(std::move(grammar)) {
  accepted_.reserve(MaskWorker::kMaxAhead + 2);
  drafts_.reserve(MaskWorker::kMaxAhead);
  ahead_.reserve(MaskWorker::kMaxAhead);
  positions_.reserve(MaskWorker::kMaxAhead + 1);
}

void MaskWorker::Queue::push(std::shared_ptr<Guide> guide) noexcept {
  Guide* added = guide.get();
  (last ? last->next_in_queue_ : first) = std::move(guide);
  last = added;
}

std::shared_ptr<Guide> MaskWorker::Queue::pop() noexcept {
  std::shared_ptr<Guide> guide = std::move(first);
  first = std::move(guide->next_in_queue_);
  if (!first) last = nullptr;
  return guide;
}

MaskWorker::MaskWorker(std::shared_ptr<const text::SubwordTokenizer> tokenizer, bool has_thread,
                       std::function<void()> before_work)
    : tokenizer_(std::move(tokenizer)), before_work_(std::move(before_work)), has_thread_(has_thread) {}

MaskWorker::~MaskWorker() {
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  asked_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (Queue& queue : queues_)
    while (queue.first) queue.pop();
}

std::shared_ptr<Guide> MaskWorker::begin(std::shared_ptr<TokenGrammar> grammar) {
  auto guide = std::make_shared<Guide>(std::move(grammar));
  std::unique_lock lock(mutex_);
  accepted_.reserve(kMaxAhead + 2);
  drafts_.reserve(kMaxAhead);
  ahead_.reserve(kMaxAhead);
  positions_.reserve(kMaxAhead + 1);
  if (has_thread_ && !thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      has_thread_ = false;
    }
  }
  ask(*guide);
  return guide;
}

// Requires the mutex.
void MaskWorker::ask(Guide& guide) noexcept {
  ++guide.version_;
  if (guide.is_queued_) return;  // the mask in progress is outdated, and will be computed again
  guide.is_queued_ = true;
  guide.slice_ = 0;
  queues_[0].push(guide.shared_from_this());
  asked_.notify_one();
}

void MaskWorker::accept(Guide& guide, int32_t token_id) {
  std::lock_guard lock(mutex_);
  guide.accepted_.push_back(token_id);
  if (!guide.ahead_.empty() && guide.ahead_.front() == token_id) {
    guide.ahead_.erase(guide.ahead_.begin());
    guide.positions_.erase(guide.positions_.begin());
    if (!guide.ahead_.empty()) return;  // the next masks are also computed
  } else {
    guide.ahead_.clear();
    guide.positions_.clear();
  }
  guide.drafts_.clear();
  ask(guide);
}

void MaskWorker::look_ahead(Guide& guide, std::span<const int32_t> drafts) {
  std::lock_guard lock(mutex_);
  drafts = drafts.first(std::min(drafts.size(), kMaxAhead));
  guide.drafts_.assign(drafts.begin(), drafts.end());
  ask_anew(guide);
}

// Requires the mutex. The mask right after the answer stays valid.
void MaskWorker::ask_anew(Guide& guide) noexcept {
  guide.ahead_.clear();
  if (guide.positions_.size() > 1) guide.positions_.erase(guide.positions_.begin() + 1, guide.positions_.end());
  ask(guide);
}

template <class Condition>
void MaskWorker::wait(std::unique_lock<std::mutex>& lock, Clock::time_point deadline, Condition is_done) {
  while (!has_thread_ && !is_done()) work(lock);
  if (is_done() || deadline == Clock::time_point()) return;  // without a system call, once per row and step
  if (deadline == Clock::time_point::max()) found_.wait(lock, is_done);
  else found_.wait_until(lock, deadline, is_done);
}

DocumentPosition MaskWorker::find(Guide& guide, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  wait(lock, deadline, [&] { return !guide.positions_.empty(); });
  return guide.positions_.empty() ? DocumentPosition{} : guide.positions_.front();
}

void MaskWorker::find_ahead(Guide& guide, Clock::time_point deadline, std::vector<int32_t>& out) {
  std::unique_lock lock(mutex_);
  wait(lock, deadline, [&] { return !guide.is_queued_; });
  out.assign(guide.ahead_.begin(), guide.ahead_.end());
}

void MaskWorker::find_forced(Guide& guide, Clock::time_point deadline, std::vector<int32_t>& out) {
  {
    std::lock_guard lock(mutex_);
    if (!guide.drafts_.empty()) {  // drafts of an earlier step
      guide.drafts_.clear();
      ask_anew(guide);
    }
  }
  find_ahead(guide, deadline, out);
}

void MaskWorker::wait_for_any(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  found_.wait_until(lock, deadline, [this] { return has_found_; });
  has_found_ = false;
}

MaskStats MaskWorker::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void MaskWorker::run() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    asked_.wait(
        lock, [this] { return is_closing_ || std::ranges::any_of(queues_, [](const Queue& q) { return !!q.first; }); });
    if (is_closing_) return;
    work(lock);
  }
}

// Takes the cheapest guide first, but serves the others often enough.
std::shared_ptr<Guide> MaskWorker::take() noexcept {
  size_t i = 0;
  while (!queues_[i].first) ++i;
  const auto others = std::span(queues_).subspan(1);
  const auto waiting = std::ranges::find_if(others, [](const Queue& queue) { return !!queue.first; });
  if (i > 0 || waiting == others.end()) num_first_ = 0;
  else if (++num_first_ > kMaxFirst) {
    num_first_ = 0;
    return waiting->pop();
  }
  return queues_[i].pop();
}

// Takes one guide from the queue and works on it, with the mutex released.
void MaskWorker::work(std::unique_lock<std::mutex>& lock) noexcept {
  const std::shared_ptr<Guide> guide = take();
  if (guide.use_count() == 1) return;  // its request has ended
  const uint64_t version = guide->version_;
  const size_t max_work = kSlices[guide->slice_];
  accepted_.clear();
  std::swap(accepted_, guide->accepted_);
  drafts_.assign(guide->drafts_.begin(), guide->drafts_.end());  // both reserved
  lock.unlock();
  if (before_work_) before_work_();
  const Clock::time_point begin = Clock::now();
  const bool is_found = find_positions(*guide, max_work);
  const Clock::duration time = Clock::now() - begin;
  lock.lock();
  stats_.mask_seconds += std::chrono::duration<double>(time).count();
  const bool is_current = version == guide->version_;
  if (is_found && is_current) {
    stats_.num_masks += static_cast<int64_t>(positions_.size());
    std::swap(guide->positions_, positions_);
    std::swap(guide->ahead_, ahead_);
    guide->is_queued_ = false;
  } else {
    guide->slice_ = is_current ? guide->slice_ + 1 : 0;
    queues_[guide->slice_].push(guide);
  }
  has_found_ = true;
  found_.notify_all();
}

// Returns false if this takes more than `max_work`, unless that is the last slice.
bool MaskWorker::find_positions(Guide& guide, size_t max_work) noexcept {
  positions_.clear();
  ahead_.clear();
  try {
    if (!guide.matcher_) guide.matcher_.emplace(guide.grammar_);
    for (const int32_t id : accepted_) guide.matcher_->accept(tokenizer_->token_bytes(id));
    Matcher matcher = *guide.matcher_;
    if (!add_position(matcher, max_work)) return false;
    while (ahead_.size() < kMaxAhead && positions_.back().status.is_ok()) {
      const bool is_forced = drafts_.empty();
      if (!is_forced && ahead_.size() == drafts_.size()) break;
      const int32_t id = is_forced ? only_allowed(*positions_.back().mask) : drafts_[ahead_.size()];
      if (id < 0 || !matcher.accept(tokenizer_->token_bytes(id))) break;
      if (!add_position(matcher, max_work)) return false;
      ahead_.push_back(id);
    }
  } catch (const std::bad_alloc&) {  // masks found so far are valid; a guide without any reports the error
    if (positions_.empty()) positions_.push_back({nullptr, false, {StatusCode::out_of_memory, "out of memory"}});
    positions_.resize(1);
    ahead_.clear();
  }
  return true;
}

bool MaskWorker::add_position(Matcher& matcher, size_t max_work) {
  std::shared_ptr<const Mask> mask = matcher.find_mask(max_work);
  Status status = matcher.status();
  if (!mask && status.is_ok()) return false;
  const bool must_end = status.is_ok() && matcher.must_end();
  positions_.push_back({std::move(mask), must_end, std::move(status)});
  return true;
}

}  // namespace pagoda::grammar

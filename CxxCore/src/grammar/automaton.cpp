// The subset construction, done lazily and with a stack of calls in each element.
#include "grammar/automaton.h"

#include <algorithm>

#include "base/fnv1a.h"

namespace pagoda::grammar {

static uint64_t pair_key(int32_t a, int32_t b) noexcept {
  return (uint64_t{static_cast<uint32_t>(a)} << 32) | static_cast<uint32_t>(b);
}

size_t Automaton::Hash::operator()(const Configuration& configuration) const noexcept {
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(configuration.threads)));
  return static_cast<size_t>(hash.value() * 2 + configuration.is_complete);
}

size_t Automaton::Hash::operator()(const Thread& thread) const noexcept {
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(&thread, 1)));
  return static_cast<size_t>(hash.value());
}

Automaton::Automaton(std::shared_ptr<const Grammar> grammar)
    : grammar_(std::move(grammar)), num_classes_(static_cast<size_t>(grammar_->num_byte_classes())), classes_(256) {
  for (size_t byte = 0; byte < 256; ++byte) classes_[byte] = grammar_->byte_class(static_cast<uint8_t>(byte));
  forget();
}

void Automaton::forget() {
  ++generation_;
  start_ = kUnknown;
  table_.clear();
  configurations_.clear();
  num_kept_threads_ = 0;
  ids_.clear();
  open_calls_.assign(1, {-1, -1, 0});
  call_ids_.clear();
}

int32_t Automaton::start() {
  if (start_ != kUnknown) return start_;
  begin();
  visit(grammar_->start(), kNoCalls, Guard::kOff);
  is_exhausted_ = has_overflowed_;
  return start_ = intern_found();
}

// Resets the scratch memory: an earlier step may have stopped halfway for lack of memory.
void Automaton::begin() noexcept {
  visited_.clear();
  is_visited_.clear();
  found_.threads.clear();
  found_.is_complete = false;
  has_overflowed_ = false;
}

bool Automaton::forget_if_large() {
  if (table_.size() < kMaxTableEntries && open_calls_.size() < kMaxTableEntries / 4 &&
      num_kept_threads_ < kMaxKeptThreads)
    return false;
  forget();
  return true;
}

size_t Automaton::num_bytes() const noexcept {
  constexpr size_t kNode = 48;  // of a hash table, beside its value
  return table_.capacity() * sizeof(int32_t) + 2 * num_kept_threads_ * sizeof(Thread) +
         configurations_.size() * (2 * sizeof(Configuration) + kNode) + open_calls_.size() * (sizeof(OpenCall) + kNode);
}

int32_t Automaton::find_next(int32_t id, uint8_t byte) {
  is_exhausted_ = is_exhausted_ || work_ > max_work_ || table_.size() > max_table_size_;
  if (is_exhausted_) return kDead;  // the transition is not in the table, and no more work is allowed
  // A copy, because interning may move the configurations.
  const std::vector<Thread> threads = configurations_[id].threads;
  begin();
  for (const Thread& thread : threads) {
    for (const ByteEdge& edge : grammar_->byte_edges(thread.state)) {
      if (edge.low > byte || byte > edge.high) continue;
      const int32_t guard = thread.guard == Guard::kOff ? Guard::kOff : grammar_->guard().next(thread.guard, byte);
      if (guard != Guard::kDead) visit(edge.target, thread.calls, guard);
    }
  }
  work_ += threads.size() + visited_.size();
  if (has_overflowed_) is_exhausted_ = true;
  if (is_exhausted_) return kDead;
  const int32_t next = visited_.empty() ? kDead : intern_found();
  table_[static_cast<size_t>(id) * num_classes_ + classes_[byte]] = next;
  return next;
}

// Adds a state unless it was visited or is nested too deep, then follows its transitions that read no byte.
void Automaton::visit(int32_t state, int32_t calls, int32_t guard) {
  const size_t first = visited_.size();
  const auto note = [this](int32_t s, int32_t c, int32_t g) {
    if (open_calls_[c].depth + grammar_->height(s) > kMaxNesting) return;
    const Thread thread{s, c, grammar_->guard_at(s, g)};
    if (visited_.size() >= 8 * kMaxThreads) has_overflowed_ = true;
    else if (is_visited_.insert(thread).second) visited_.push_back(thread);
  };
  note(state, calls, guard);
  for (size_t i = first; i < visited_.size(); ++i) {
    const Thread thread = visited_[i];
    const OpenCall open = open_calls_[thread.calls];
    if (!grammar_->byte_edges(thread.state).empty()) {
      has_overflowed_ = has_overflowed_ || found_.threads.size() >= kMaxThreads;
      if (!has_overflowed_) found_.threads.push_back(thread);
    }
    for (const int32_t target : grammar_->jumps(thread.state)) note(target, thread.calls, thread.guard);
    for (const Call& call : grammar_->calls(thread.state)) {
      if (open.depth + std::max(grammar_->height(call.start) + 1, grammar_->height(call.target)) > kMaxNesting)
        continue;
      note(call.start, intern_call(call.target, thread.calls), thread.guard);
    }
    if (!grammar_->is_end(thread.state)) continue;
    if (thread.calls == kNoCalls) found_.is_complete = true;
    else note(open.target, open.outer, thread.guard);
  }
}

// Reserves space for one more, so that adding it cannot fail: the two tables must stay consistent.
template <class T>
static void make_room(std::vector<T>& list, size_t count = 1) {
  if (list.capacity() - list.size() < count) list.reserve(std::max(2 * list.capacity(), list.size() + count));
}

int32_t Automaton::intern_call(int32_t target, int32_t outer) {
  make_room(open_calls_);
  const auto [found, is_new] = call_ids_.try_emplace(pair_key(target, outer), static_cast<int32_t>(open_calls_.size()));
  if (is_new) open_calls_.push_back({target, outer, open_calls_[outer].depth + 1});
  return found->second;
}

int32_t Automaton::intern_found() {
  make_room(configurations_);
  make_room(table_, num_classes_);
  Configuration copy = found_;
  const auto [found, is_new] = ids_.try_emplace(found_, static_cast<int32_t>(configurations_.size()));
  if (is_new) {
    num_kept_threads_ += copy.threads.size();
    configurations_.push_back(std::move(copy));
    table_.resize(table_.size() + num_classes_, kUnknown);
  }
  begin();
  return found->second;
}

std::vector<int32_t> Automaton::describe(int32_t id) const {
  const Configuration& configuration = configurations_[id];
  std::vector<int32_t> out{configuration.is_complete};
  for (const Thread& thread : configuration.threads) {
    out.push_back(thread.state);
    out.push_back(thread.guard);
    out.push_back(open_calls_[thread.calls].depth);
    const size_t first = out.size();
    for (int32_t c = thread.calls; c != kNoCalls; c = open_calls_[c].outer) out.push_back(open_calls_[c].target);
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }
  return out;
}

int32_t Automaton::find_described(const std::vector<int32_t>& description) {
  begin();
  found_.is_complete = description[0] != 0;
  for (size_t i = 1; i < description.size();) {
    Thread thread{description[i], kNoCalls, description[i + 1]};
    const auto depth = static_cast<size_t>(description[i + 2]);
    for (size_t d = 0; d < depth; ++d) thread.calls = intern_call(description[i + 3 + d], thread.calls);
    found_.threads.push_back(thread);
    i += 3 + depth;
  }
  return intern_found();
}

}  // namespace pagoda::grammar

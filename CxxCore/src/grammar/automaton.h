// Automaton: runs a grammar byte by byte and caches its steps, so that the next run is a table look-up.
// A configuration is the set of states the grammar may be in after some bytes, each with its stack of open calls. Each
// distinct one gets an id; ids are valid until the automaton is cleared (forget_if_large), which changes
// generation(). Thread rule: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grammar/grammar.h"

namespace pagoda::grammar {

class Automaton {
 public:
  static constexpr int32_t kDead = -1;         // no document starts with these bytes
  static constexpr size_t kMaxThreads = 4096;  // per configuration; beyond it, is_exhausted()
  static constexpr size_t kMaxTableEntries = 1 << 20;
  static constexpr size_t kMaxKeptThreads = 1 << 20;  // in all cached configurations: about 16 MB
  static constexpr size_t kMaxWork = 1 << 21;         // threads examined for one mask: about 50 ms

  explicit Automaton(std::shared_ptr<const Grammar> grammar);

  int32_t start();  // is_exhausted() afterwards if the grammar begins in too many ways
  int32_t next(int32_t id, uint8_t byte) {
    const int32_t cached = table_[static_cast<size_t>(id) * num_classes_ + classes_[byte]];
    return cached != kUnknown ? cached : find_next(id, byte);
  }
  // Starts a unit of work, such as a mask. Within it, transitions that are not in the table yet have a cost; once the
  // total exceeds `max_work`, the table has been filled again, or a configuration has too many threads, they lead to
  // kDead, and is_exhausted() marks the result invalid.
  void begin_work(size_t max_work = kMaxWork) noexcept {
    work_ = 0;
    max_work_ = max_work;
    max_table_size_ = table_.size() + kMaxTableEntries;
    is_exhausted_ = false;
  }
  bool is_exhausted() const noexcept { return is_exhausted_; }

  bool is_complete(int32_t id) const noexcept { return configurations_[id].is_complete; }
  bool can_continue(int32_t id) const noexcept { return !configurations_[id].threads.empty(); }

  // Convert a configuration to numbers that remain valid longer than its id, and back to an id.
  std::vector<int32_t> describe(int32_t id) const;
  int32_t find_described(const std::vector<int32_t>& description);

  size_t num_bytes() const noexcept;  // of memory, about

  bool forget_if_large();  // never while an id is in use; true if it was cleared
  uint64_t generation() const noexcept { return generation_; }

 private:
  static constexpr int32_t kUnknown = -2;
  static constexpr int32_t kNoCalls = 0;

  struct Thread {
    int32_t state, calls;  // calls: id of the innermost open call
    int32_t guard;         // see Guard
    bool operator==(const Thread&) const = default;
  };
  struct Configuration {
    std::vector<Thread> threads;  // those that read a byte, in the order in which they were found
    bool is_complete = false;
    bool operator==(const Configuration&) const = default;
  };
  struct OpenCall {
    int32_t target, outer;  // the state after the call, and the enclosing call
    int32_t depth;
  };
  struct Hash {
    size_t operator()(const Configuration& configuration) const noexcept;
    size_t operator()(const Thread& thread) const noexcept;
  };

  void forget();
  void begin() noexcept;  // begins a step of the automaton
  int32_t find_next(int32_t id, uint8_t byte);
  void visit(int32_t state, int32_t calls, int32_t guard);
  int32_t intern_call(int32_t target, int32_t outer);
  int32_t intern_found();  // interns the states that visit() has collected

  std::shared_ptr<const Grammar> grammar_;
  size_t num_classes_;
  std::vector<uint8_t> classes_;  // [256]
  std::vector<int32_t> table_;    // [configurations, classes]: the next configuration
  std::vector<Configuration> configurations_;
  std::unordered_map<Configuration, int32_t, Hash> ids_;
  std::vector<OpenCall> open_calls_;
  std::unordered_map<uint64_t, int32_t> call_ids_;  // by target and outer call
  int32_t start_ = kUnknown;
  uint64_t generation_ = 0;
  size_t num_kept_threads_ = 0;  // in configurations_
  size_t work_ = 0, max_work_ = kMaxWork, max_table_size_ = kMaxTableEntries;
  bool is_exhausted_ = false;

  // Scratch memory of the step in progress.
  std::vector<Thread> visited_;
  std::unordered_set<Thread, Hash> is_visited_;
  bool has_overflowed_ = false;
  Configuration found_;
};

}  // namespace pagoda::grammar

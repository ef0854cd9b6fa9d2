// PrefixReader: reads prefixes from their stores and copies them into reserved blocks and slots, on its own thread and
// beside the engine's steps. Reads that are handed over together run one after another without waiting for a step.
// Thread rule: one thread (the engine's) calls it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_store.h"

namespace pagoda::engine {

// The stored prefixes that lead to a state, first to last, and the memory that they are copied to.
struct PrefixRead {
  struct Part {
    std::shared_ptr<PrefixStore> store;
    PrefixStore::Next next;
  };
  uint64_t sequence_id = 0;  // that waits for it; it may have ended since
  std::vector<Part> parts;
  PrefixCopier::Target target;
  Status status;  // of the first part that could not be read or copied
};

class PrefixReader {
 public:
  using Reads = std::vector<std::unique_ptr<PrefixRead>>;

  explicit PrefixReader(PrefixCopier& copier);
  ~PrefixReader();  // finishes the read that has begun, and drops the others

  void read(PrefixRead& read) noexcept;  // on the calling thread
  void add(Reads& reads);                // takes all of them, or none if it fails
  Reads take_finished();
  size_t num_unfinished() const noexcept;
  // Until a read has finished, or the deadline; returns at once if there is none.
  void wait_for_any(std::chrono::steady_clock::time_point deadline);

 private:
  void run() noexcept;

  PrefixCopier& copier_;
  mutable std::mutex mutex_;  // guards the members below, except the thread
  std::condition_variable wake_, has_finished_;
  std::deque<std::unique_ptr<PrefixRead>> waiting_;
  Reads finished_;
  bool is_reading_ = false, is_closing_ = false;
  std::thread thread_;
};

}  // namespace pagoda::engine

// MPI, loaded at run time when a pipeline needs it: Open MPI's library, whose handles are addresses of its symbols.
// State: one world for the process. Thread rule: any thread; calls are made one at a time, none of them waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "pipeline/channel.h"

namespace pagoda::pipeline {

struct MpiFunctions;

class Mpi {
 public:
  // Loads the MPI library and initialises it; all callers get the same object. Fails with unsupported and a message
  // that names what is missing.
  static Result<Mpi*> get();
  ~Mpi();

  int rank() const noexcept { return rank_; }
  int num_ranks() const noexcept { return num_ranks_; }

  Result<std::unique_ptr<Channel>> connect(int rank);  // the first rank
  // On other ranks: the next channel that the first rank opens. resource_exhausted if there was none in time, shut_down
  // if the first rank has ended.
  Result<std::unique_ptr<Channel>> accept(int timeout_ms);

 private:
  friend class MpiChannel;
  Mpi() = default;
  Status open();
  template <class Start>
  Result<bool> advance(void*& request, const char* name, Start&& start);
  Status send(int rank, int tag, std::span<const std::byte> frame, int timeout_ms, const std::atomic<bool>* closed);
  // Whether a frame with this tag (-1: with any tag) has arrived; fills in the tag.
  Result<bool> probe(int rank, int& tag, int& size);
  Status receive(int rank, int tag, std::span<std::byte> frame, int timeout_ms, const std::atomic<bool>& closed);

  std::unique_ptr<MpiFunctions> mpi_;
  std::mutex mutex_;  // held during each call of the library
  int rank_ = 0, num_ranks_ = 0;
  int session_ = 0;  // number of the last channel: frames of other channels are ignored
  bool is_over_ = false;
};

}  // namespace pagoda::pipeline

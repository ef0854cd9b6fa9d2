// MPI, opened at run time when a pipeline asks for it: Open MPI's library, whose handles are addresses of its symbols.
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
  // Opens the library and joins the world of mpirun; the same one for all callers. unsupported names what is missing.
  static Result<Mpi*> get();
  ~Mpi();

  int rank() const noexcept { return rank_; }
  int num_ranks() const noexcept { return num_ranks_; }

  Result<std::unique_ptr<Channel>> connect(int rank);  // the first rank
  // Another rank: the first one's next channel. resource_exhausted when none came in time, shut_down when it has ended.
  Result<std::unique_ptr<Channel>> accept(int timeout_ms);

 private:
  friend class MpiChannel;
  Mpi() = default;
  Status open();
  template <class Start>
  Result<bool> advance(void*& request, const char* name, Start&& start);
  Status send(int rank, int tag, std::span<const std::byte> frame, int timeout_ms, const std::atomic<bool>* closed);
  // Whether a frame of this tag, or of any with -1, has come; the tag is filled.
  Result<bool> probe(int rank, int& tag, int& size);
  Status receive(int rank, int tag, std::span<std::byte> frame, int timeout_ms, const std::atomic<bool>& closed);

  std::unique_ptr<MpiFunctions> mpi_;
  std::mutex mutex_;  // held during each call of the library
  int rank_ = 0, num_ranks_ = 0;
  int session_ = 0;  // of the last channel: frames of others are left alone
  bool is_over_ = false;
};

}  // namespace pagoda::pipeline

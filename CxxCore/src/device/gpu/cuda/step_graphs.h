// StepGraphs: the launches of a step as a CUDA graph. A step of the same launches in the same order (every decode step
// of a model) replays an instantiated graph; grids and arguments that changed are written into it first, node by node.
// State: the step being recorded, and the graphs of recent kinds of step.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "device/gpu/backend.h"
#include "device/gpu/cuda/driver.h"

namespace pagoda::device::gpu::cuda {

// One launch, its parameters as they lie in memory.
struct Launch {
  Handle function = nullptr;
  Size3 groups, threads;
  std::vector<uint32_t> param_offsets;  // into params, one for each parameter of the kernel
  std::vector<std::byte> params;
  std::vector<uint32_t> after;  // launches of this step that must be done before

  bool operator==(const Launch&) const = default;
};

class StepGraphs {
 public:
  StepGraphs(const Driver& driver, Handle stream) : driver_(driver), stream_(stream) {}
  ~StepGraphs() { clear(); }
  StepGraphs(const StepGraphs&) = delete;

  void add(Launch launch) { step_.push_back(std::move(launch)); }
  void drop() noexcept { step_.clear(); }  // what was added
  // Starts what was added, in order, and forgets it. Launching nothing is fine.
  Status submit() noexcept;
  void clear() noexcept;

  struct Counts {
    int64_t instantiated = 0, replayed = 0, nodes_updated = 0;
  };
  const Counts& counts() const noexcept { return counts_; }

 private:
  struct Graph {
    Handle graph = nullptr, exec = nullptr;
    std::vector<Handle> nodes;
    std::vector<Launch> launches;
    int64_t used = 0;
  };
  static constexpr size_t kMaxGraphs = 16;  // kinds of step kept: batch sizes come and go, prefill beside decode

  Graph* find() noexcept;
  Status instantiate();
  Status update(Graph& graph) noexcept;
  void destroy(Graph& graph) noexcept;

  const Driver& driver_;
  Handle stream_;
  std::vector<Launch> step_;
  std::deque<Graph> graphs_;
  int64_t time_ = 0;
  Counts counts_;
};

}  // namespace pagoda::device::gpu::cuda

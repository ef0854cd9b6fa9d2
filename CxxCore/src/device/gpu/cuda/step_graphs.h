// StepGraphs: the launches of a step as a CUDA graph. A step of the same launches in the same order (every decode step
// of a model) replays an instantiated graph; grids and arguments that changed are written into it first, node by node.
// State: the step being recorded, and the graphs of recent kinds of step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "device/gpu/backend.h"
#include "device/gpu/cuda/driver.h"

namespace pagoda::device::gpu::cuda {

// Launches first .. end of a step.
struct LaunchRange {
  uint32_t first = 0, end = 0;
  bool operator==(const LaunchRange&) const = default;
};

// One launch with its parameters in their memory layout: no heap, because a step creates hundreds.
struct Launch {
  static constexpr size_t kMaxParams = 31, kMaxParamsBytes = 1024;
  Launch() noexcept {}  // leaves params uninitialised: zeroing the memory of a step took 10 us

  Handle function = nullptr;
  Size3 groups, threads;
  uint32_t shared_bytes = 0;  // of dynamic threadgroup memory; the function determines it
  LaunchRange after;          // launches of this step that must finish first
  bool begins_early = true;   // if `after` is one launch and the GPU supports it
  uint32_t num_params = 0, params_bytes = 0;
  std::array<uint32_t, kMaxParams> param_offsets;  // offsets in params
  alignas(16) std::array<std::byte, kMaxParamsBytes> params;

  // Appends a parameter; false if there is no space.
  bool add_param(const void* value, size_t size_bytes) noexcept {
    constexpr size_t kAlignment = 16;
    const size_t at = (params_bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (num_params == kMaxParams || at + size_bytes > kMaxParamsBytes) return false;
    std::memset(params.data() + params_bytes, 0, at - params_bytes);
    std::memcpy(params.data() + at, value, size_bytes);
    param_offsets[num_params++] = static_cast<uint32_t>(at);
    params_bytes = static_cast<uint32_t>(at + size_bytes);
    return true;
  }
  bool operator==(const Launch& other) const noexcept {
    return function == other.function && groups == other.groups && threads == other.threads && after == other.after &&
           num_params == other.num_params && params_bytes == other.params_bytes &&
           std::memcmp(params.data(), other.params.data(), params_bytes) == 0;
  }
};

class StepGraphs {
 public:
  // overlaps: whether the kernels wait for their inputs themselves, so that a launch may start before the one that it
  // waits for has ended. They do if the GPU supports it (compute capability 9.0).
  StepGraphs(const Driver& driver, Handle stream, bool overlaps = false)
      : driver_(driver), stream_(stream), overlaps_(overlaps && driver.cuGraphAddDependencies_v2 != nullptr) {}
  ~StepGraphs() { clear(); }
  StepGraphs(const StepGraphs&) = delete;

  bool overlaps() const noexcept { return overlaps_; }
  Launch& add() { return step_.emplace_back(); }  // to be filled in by the caller
  std::span<Launch> recorded() noexcept { return step_; }
  void drop() noexcept { step_.clear(); }  // discards the added launches
  // Starts the added launches, in order, and clears them. Launching nothing is allowed.
  Status submit() noexcept;
  // The step that was started last, counted from 1; 0 if none can be repeated.
  uint64_t last() const noexcept { return last_ != nullptr ? static_cast<uint64_t>(time_) : 0; }
  Status repeat() noexcept;  // starts it again; there must be one
  void clear() noexcept;

  struct Counts {
    int64_t instantiated = 0, replayed = 0, repeated = 0, nodes_updated = 0;
  };
  const Counts& counts() const noexcept { return counts_; }

 private:
  struct Graph {
    Handle graph = nullptr, exec = nullptr;
    std::vector<Handle> nodes;
    std::vector<Launch> launches;
    int64_t used = 0;
  };
  static constexpr size_t kMaxGraphs = 16;  // kinds of step kept: batch sizes vary, and prefill mixes with decode

  Graph* find() noexcept;
  Status instantiate();
  Status add_node(Graph& graph, Launch& launch);
  Status update(Graph& graph) noexcept;
  void destroy(Graph& graph) noexcept;

  const Driver& driver_;
  Handle stream_;
  bool overlaps_;
  std::vector<Launch> step_;
  std::deque<Graph> graphs_;
  Graph* last_ = nullptr;
  int64_t time_ = 0;
  Counts counts_;
};

}  // namespace pagoda::device::gpu::cuda

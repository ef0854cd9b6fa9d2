// MetalSteps: records the launches of a step, encodes them into command buffers, and waits for those. Metal code,
// compiled on Apple systems only.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/gpu/backend.h"
#include "device/gpu/hazards.h"
#include "device/gpu/metal/done_event.h"
#include "device/gpu/metal/launch_record.h"
#include "device/gpu/metal/metal_cpp.h"
#include "device/gpu/metal/residency.h"
#include "device/gpu/metal/step_parts.h"

namespace pagoda::device::gpu::metal {

// State: the step being recorded, or submitted last; its parts while they run; the same step encoded once more; and the
// first error of the step. Parts run in order: each waits for the fence that the one before it updates, because buffers
// are not tracked. The system evaluates fences when command buffers are committed, so that an encoded step may be
// dropped. Thread rule: Backend's.
class MetalSteps {
 public:
  MetalSteps(MTL::Device* device, MTL::CommandQueue* queue, Residency& residency)
      : queue_(queue), fence_(NS::TransferPtr(device->newFence())), done_(device), residency_(residency) {}
  MetalSteps(const MetalSteps&) = delete;
  ~MetalSteps();  // after the last step

  // See Backend.
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads, std::span<const Binding> bindings) noexcept;
  void submit() noexcept;
  uint64_t repeatable() const noexcept { return last_step_; }
  void repeat() noexcept;
  Status wait() noexcept;
  StepTimes take_times() noexcept;
  // Until what was submitted is done; its error is left to wait().
  void wait_for_device() noexcept {
    if (!running_.empty()) running_.back().commands->waitUntilCompleted();
  }

 private:
  // A command buffer: a step, or a part of it.
  struct Part {
    NS::SharedPtr<MTL::CommandBuffer> commands;
    NS::SharedPtr<MTL::ComputeCommandEncoder> encoder;  // null after its end
    uint64_t num_threads = 0;
  };

  Status record(const Pipeline& pipeline, Size3 groups, Size3 threads, std::span<const Binding> bindings);
  Status encode(std::vector<Part>& parts, bool commits) noexcept;
  Status begin_part(std::vector<Part>& parts);
  void encode(const LaunchRecord::Launch& launch, MTL::ComputeCommandEncoder* encoder) const noexcept;
  void end(Part& part) noexcept;
  void commit_from(size_t first) noexcept;
  void encode_again() noexcept;
  void settle() noexcept;
  void retire() noexcept;
  void forget_step() noexcept;

  // The GPU that draws the screen does so between the parts of a step, at least this often.
  static constexpr double kMaxPartSeconds = 0.05;
  // Steps of more parts are prompts, which are not repeated.
  static constexpr size_t kMaxRepeatedParts = 8;

  MTL::CommandQueue* queue_;
  NS::SharedPtr<MTL::Fence> fence_;
  DoneEvent done_;
  Residency& residency_;
  HazardTracker hazards_;
  StepParts parts_{kMaxPartSeconds};
  LaunchRecord record_;
  bool is_submitted_ = true;  // the recorded step
  std::vector<Part> running_, again_,
      finished_;  // again_: not committed; finished_: not asked for times and errors yet
  uint64_t num_steps_ = 0, last_step_ = 0;
  StepTimes times_;
  Status error_;
};

}  // namespace pagoda::device::gpu::metal

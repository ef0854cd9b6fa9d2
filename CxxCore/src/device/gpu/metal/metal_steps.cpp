// Records launches with the barriers they need, cuts long steps into parts, and reports the errors of command buffers.
#include "device/gpu/metal/enabled.h"
#ifdef PAGODA_METAL

#include <new>
#include <string>

#include "base/assign_or_return.h"
#include "device/gpu/launch_checks.h"
#include "device/gpu/metal/metal_buffer.h"
#include "device/gpu/metal/metal_steps.h"
#include "device/gpu/metal/pipeline_cache.h"

namespace pagoda::device::gpu::metal {
namespace {

Status error_of(MTL::CommandBuffer* commands) {
  if (commands->status() != MTL::CommandBufferStatusError) return ok_status();
  NS::Error* error = commands->error();
  const bool memory = error && error->code() == MTL::CommandBufferErrorOutOfMemory;
  const bool late = error && error->code() == MTL::CommandBufferErrorTimeout;
  return make_error(
      memory ? StatusCode::out_of_memory : StatusCode::device_error,
      std::string("Metal: the step ") + (late ? "took too long for the system" : "failed") + ": " + message_of(error));
}

Status no_host_memory() {
  return make_error(StatusCode::out_of_memory, "metal: no host memory for the launches of a step");
}

}  // namespace

MetalSteps::~MetalSteps() {
  const Pool pool;
  last_step_ = 0;  // its buffers may be gone: not encoded again
  (void)wait();
  settle();
}

void MetalSteps::launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                        std::span<const Binding> bindings) noexcept {
  if (!error_.is_ok()) return;
  try {
    error_ = record(pipeline, groups, threads, bindings);
  } catch (const std::bad_alloc&) {
    error_ = no_host_memory();
  }
}

Status MetalSteps::record(const Pipeline& pipeline, Size3 groups, Size3 threads, std::span<const Binding> bindings) {
  const KernelInfo& kernel = *static_cast<const MetalPipeline&>(pipeline).kernel;
  PAGODA_RETURN_IF_ERROR(check_launch(kernel, groups, threads, bindings));
  if (groups.x == 0 || groups.y == 0 || groups.z == 0) return ok_status();
  if (std::exchange(is_submitted_, false)) forget_step();
  LaunchRecord::Launch launch{.pipeline = &pipeline, .groups = groups, .threads = threads, .bindings = bindings};
  launch.begins_part = parts_.begins_part(launch.num_threads());
  if (launch.begins_part) hazards_.clear();
  launch.needs_barrier = hazards_.needs_barrier(kernel, bindings);
  record_.add(launch);
  return ok_status();
}

// What the record has been encoded into is not its own any more.
void MetalSteps::forget_step() noexcept {
  record_.clear();
  again_.clear();
  last_step_ = 0;
  parts_.begin_step();
}

// A step with an invalid launch is not run at all.
void MetalSteps::submit() noexcept {
  const Pool pool;
  if (std::exchange(is_submitted_, true)) forget_step();  // without any launch
  if (!error_.is_ok() || record_.is_empty()) return;
  retire();
  residency_.note_use();
  error_ = encode(running_, true);
  if (running_.empty()) return;
  if (error_.is_ok() && running_.size() <= kMaxRepeatedParts) last_step_ = ++num_steps_;
  commit_from(running_.size() - 1);
}

void MetalSteps::repeat() noexcept {
  const Pool pool;
  if (again_.empty()) encode_again();
  if (again_.empty()) {
    last_step_ = 0;
    error_ = make_error(StatusCode::device_error, "Metal gives no command encoder");
    return;
  }
  retire();
  residency_.note_use();
  running_.swap(again_);
  commit_from(0);
}

// The recorded launches, in parts that have ended. commits: all but the last, as soon as they have, so that the GPU
// starts on them while the next is encoded.
Status MetalSteps::encode(std::vector<Part>& parts, bool commits) noexcept {
  Status status;
  record_.for_each([&](const LaunchRecord::Launch& launch) {
    if (!status.is_ok()) return;
    if (launch.begins_part && !parts.empty()) {
      end(parts.back());
      if (commits) parts.back().commands->commit();
    }
    if (launch.begins_part) {
      try {
        status = begin_part(parts);
      } catch (const std::bad_alloc&) {
        status = no_host_memory();
      }
    }
    if (!status.is_ok()) return;
    encode(launch, parts.back().encoder.get());
    parts.back().num_threads += launch.num_threads();
  });
  if (!parts.empty()) end(parts.back());
  return status;
}

// Its references are not retained: pipelines live as long as the backend, buffers until their steps are completed.
Status MetalSteps::begin_part(std::vector<Part>& parts) {
  auto descriptor = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());
  descriptor->setErrorOptions(MTL::CommandBufferErrorOptionEncoderExecutionStatus);
  descriptor->setRetainedReferences(false);
  Part part;
  part.commands = NS::RetainPtr(queue_->commandBuffer(descriptor.get()));
  if (part.commands) part.encoder = NS::RetainPtr(part.commands->computeCommandEncoder(MTL::DispatchTypeConcurrent));
  if (!part.encoder) return make_error(StatusCode::device_error, "Metal gives no command encoder");
  part.encoder->waitForFence(fence_.get());
  parts.push_back(std::move(part));
  return ok_status();
}

void MetalSteps::encode(const LaunchRecord::Launch& launch, MTL::ComputeCommandEncoder* encoder) const noexcept {
  if (launch.needs_barrier) encoder->memoryBarrier(MTL::BarrierScopeBuffers);
  encoder->setComputePipelineState(static_cast<const MetalPipeline*>(launch.pipeline)->state.get());
  for (const Binding& binding : launch.bindings) {
    const auto index = static_cast<NS::UInteger>(binding.index);
    if (binding.buffer)
      encoder->setBuffer(static_cast<const MetalBuffer*>(binding.buffer)->get(),
                         static_cast<NS::UInteger>(binding.offset_bytes), index);
    else encoder->setBytes(binding.values, binding.size_bytes, index);
  }
  encoder->dispatchThreadgroups(MTL::Size::Make(launch.groups.x, launch.groups.y, launch.groups.z),
                                MTL::Size::Make(launch.threads.x, launch.threads.y, launch.threads.z));
}

void MetalSteps::end(Part& part) noexcept {
  if (!part.encoder) return;
  part.encoder->updateFence(fence_.get());
  part.encoder->endEncoding();
  part.encoder.reset();
}

// The event's value is that of the step committed last, so that it is added here and not when the step is encoded.
void MetalSteps::commit_from(size_t first) noexcept {
  done_.signal(running_.back().commands.get());
  residency_.set_last(running_.back().commands);
  for (size_t i = first; i < running_.size(); ++i) running_[i].commands->commit();
}

// Encodes the step that runs now once more, so that repeat() only has to commit it. Without success repeat() tries
// again.
void MetalSteps::encode_again() noexcept {
  if (!encode(again_, false).is_ok()) again_.clear();
}

// Of the step before, which has completed by now; of the last one they are known a little after its event.
void MetalSteps::settle() noexcept {
  for (const Part& part : finished_) {
    part.commands->waitUntilCompleted();
    if (error_.is_ok()) error_ = error_of(part.commands.get());
    const double seconds = part.commands->GPUEndTime() - part.commands->GPUStartTime();
    parts_.note(part.num_threads, seconds);
    times_.seconds += seconds;
  }
  if (!finished_.empty()) ++times_.steps;
  finished_.clear();
}

// A step that was not waited for.
void MetalSteps::retire() noexcept {
  if (running_.empty()) return;
  settle();
  finished_.swap(running_);
}

Status MetalSteps::wait() noexcept {
  const Pool pool;
  settle();
  Status status = std::exchange(error_, ok_status());
  if (!running_.empty()) {
    if (status.is_ok() && last_step_ != 0 && again_.empty()) encode_again();
    done_.wait(running_.back().commands.get());
    for (const Part& part : running_)
      if (status.is_ok()) status = error_of(part.commands.get());
    finished_.swap(running_);
  }
  if (!status.is_ok()) {
    last_step_ = 0;
    again_.clear();
  }
  return status;
}

StepTimes MetalSteps::take_times() noexcept {
  const Pool pool;
  settle();
  return std::exchange(times_, {});
}

}  // namespace pagoda::device::gpu::metal

#endif

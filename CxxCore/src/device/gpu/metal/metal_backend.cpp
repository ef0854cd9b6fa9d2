// MetalBackend: memory shared by host and GPU, launches into one concurrent encoder, errors of the command buffer.
#include "device/gpu/metal/metal_backend.h"

#include "base/assign_or_return.h"
#include "base/cache_folder.h"
#include "base/concat.h"
#include "device/gpu/metal/enabled.h"
#ifdef PAGODA_METAL

#include <TargetConditionals.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/gpu/hazards.h"
#include "device/gpu/launch_checks.h"
#include "device/gpu/metal/pipeline_cache.h"
#include "device/host/host_memory.h"

namespace pagoda::device::gpu::metal {

namespace {

// Pages of the system: zero, and provided when they are first used. Metal's own buffers would have to be cleared, which
// touches all of a cache that may never be filled.
class Pages {
 public:
  explicit Pages(size_t size_bytes) : size_(round_up(size_bytes, static_cast<size_t>(getpagesize()))) {
    base_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  Pages(const Pages&) = delete;
  ~Pages() {
    if (base_ != MAP_FAILED) munmap(base_, size_);
  }
  bool is_ok() const noexcept { return base_ != MAP_FAILED; }
  const void* get() const noexcept { return base_; }
  size_t size() const noexcept { return size_; }

 private:
  static size_t round_up(size_t size, size_t unit) { return (std::max<size_t>(size, 1) + unit - 1) / unit * unit; }
  size_t size_;
  void* base_;
};

class MetalBuffer final : public Buffer {
 public:
  MetalBuffer(std::unique_ptr<Pages> pages, NS::SharedPtr<MTL::Buffer> buffer, size_t size)
      : pages_(std::move(pages)), buffer_(std::move(buffer)), size_(size) {}
  size_t size_bytes() const noexcept override { return size_; }
  std::byte* host_pointer() noexcept override { return static_cast<std::byte*>(buffer_->contents()); }
  const MTL::Buffer* get() const noexcept { return buffer_.get(); }

 private:
  std::unique_ptr<Pages> pages_;  // outlives buffer_
  NS::SharedPtr<MTL::Buffer> buffer_;
  size_t size_;
};

// State: the step being encoded (command buffer and encoder, null between steps), the submitted step, and the first
// error of the step. Thread rule: Backend's.
class MetalBackend final : public Backend, private Pending {
 public:
  explicit MetalBackend(NS::SharedPtr<MTL::Device> device, std::string cache_folder)
      : device_(std::move(device)),
        queue_(NS::TransferPtr(device_->newCommandQueue())),
        pipelines_(device_.get(), generated::files(), std::move(cache_folder)) {
    info_.name = "metal";
    info_.description = std::string("Metal on ") + device_->name()->utf8String();
    info_.memory_limit_bytes =
        std::min(static_cast<int64_t>(device_->recommendedMaxWorkingSetSize()), host::memory_limit_bytes());
    info_.runs_beside_host = true;
    info_.max_step_seconds = 0.1;  // the same GPU draws the screen, and a command buffer is not preempted
  }
  ~MetalBackend() override { (void)wait(); }

  const DeviceInfo& info() const noexcept override { return info_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override;
  Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept override;
  Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept override;
  Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) override;
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override;
  Pending& submit() noexcept override;
  bool has_tensor_units() const noexcept override {
    return pipelines_.compiles_tensors() && device_->supportsFamily(MTL::GPUFamilyApple10);
  }

 private:
  Status begin_step();
  Status wait() noexcept override;

  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  PipelineCache pipelines_;
  DeviceInfo info_;
  HazardTracker hazards_;
  NS::SharedPtr<MTL::CommandBuffer> encoding_, running_;
  NS::SharedPtr<MTL::ComputeCommandEncoder> encoder_;
  Status error_;
};

Result<std::unique_ptr<Buffer>> MetalBackend::allocate(size_t size_bytes, const std::string& label) {
  const Pool pool;
  const auto refuse = [&](const std::string& limit) {
    return make_error(StatusCode::out_of_memory, concat(label, ": ", size_bytes, " bytes, ", limit));
  };
  if (size_bytes > device_->maxBufferLength())
    return refuse(concat("a buffer of this GPU has at most ", device_->maxBufferLength()));
  const uint64_t used = device_->currentAllocatedSize(), limit = device_->recommendedMaxWorkingSetSize();
  if (used > limit || size_bytes > limit - used)
    return refuse(concat(limit - std::min(used, limit), " of ", limit, " are left on the GPU"));
  const MTL::ResourceOptions options = MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeUntracked;
  auto pages = std::make_unique<Pages>(size_bytes);
  if (!pages->is_ok()) return refuse("the system has no such pages");
  auto made = NS::TransferPtr(device_->newBuffer(pages->get(), pages->size(), options, nullptr));
  if (!made) return refuse("Metal gives no buffer");
  made->setLabel(text_of(label));
  return std::unique_ptr<Buffer>(std::make_unique<MetalBuffer>(std::move(pages), std::move(made), size_bytes));
}

Status MetalBackend::upload(Buffer& to, int64_t offset, const void* from, size_t size) noexcept {
  PAGODA_RETURN_IF_ERROR(check_copy(to, offset, size));
  if (running_) running_->waitUntilCompleted();
  if (size) std::memcpy(to.host_pointer() + offset, from, size);
  return ok_status();
}

Status MetalBackend::download(Buffer& from, int64_t offset, void* to, size_t size) noexcept {
  PAGODA_RETURN_IF_ERROR(check_copy(from, offset, size));
  if (running_) running_->waitUntilCompleted();
  if (size) std::memcpy(to, from.host_pointer() + offset, size);
  return ok_status();
}

Result<const Pipeline*> MetalBackend::pipeline(std::string_view kernel, std::span<const Constant> constants) {
  PAGODA_ASSIGN_OR_RETURN(auto found, pipelines_.find_or_make(kernel, constants));
  return static_cast<const Pipeline*>(found);
}

Status MetalBackend::begin_step() {
  auto descriptor = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());
  descriptor->setErrorOptions(MTL::CommandBufferErrorOptionEncoderExecutionStatus);
  encoding_ = NS::RetainPtr(queue_->commandBuffer(descriptor.get()));
  if (encoding_) encoder_ = NS::RetainPtr(encoding_->computeCommandEncoder(MTL::DispatchTypeConcurrent));
  if (!encoder_) return make_error(StatusCode::device_error, "Metal gives no command encoder");
  hazards_.clear();
  return ok_status();
}

void MetalBackend::launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                          std::span<const Binding> bindings) noexcept {
  if (!error_.is_ok()) return;
  const Pool pool;
  const auto& metal = static_cast<const MetalPipeline&>(pipeline);
  error_ = check_launch(*metal.kernel, groups, threads, bindings);
  if (error_.is_ok() && !encoder_) error_ = begin_step();
  if (!error_.is_ok() || groups.x == 0 || groups.y == 0 || groups.z == 0) return;
  if (hazards_.needs_barrier(*metal.kernel, bindings)) encoder_->memoryBarrier(MTL::BarrierScopeBuffers);
  encoder_->setComputePipelineState(metal.state.get());
  for (const Binding& binding : bindings) {
    const auto index = static_cast<NS::UInteger>(binding.index);
    if (binding.buffer)
      encoder_->setBuffer(static_cast<const MetalBuffer*>(binding.buffer)->get(),
                          static_cast<NS::UInteger>(binding.offset_bytes), index);
    else encoder_->setBytes(binding.values, binding.size_bytes, index);
  }
  encoder_->dispatchThreadgroups(MTL::Size::Make(groups.x, groups.y, groups.z),
                                 MTL::Size::Make(threads.x, threads.y, threads.z));
}

Pending& MetalBackend::submit() noexcept {
  const Pool pool;
  if (encoder_) {
    encoder_->endEncoding();
    if (error_.is_ok()) {  // a step with an invalid launch is not run at all
      encoding_->commit();
      running_ = encoding_;
    }
    encoder_.reset();
    encoding_.reset();
  }
  pipelines_.save();
  return *this;
}

Status MetalBackend::wait() noexcept {
  const Pool pool;
  Status status = std::exchange(error_, ok_status());
  if (!running_) return status;
  running_->waitUntilCompleted();
  if (running_->status() == MTL::CommandBufferStatusError && status.is_ok()) {
    NS::Error* error = running_->error();
    const bool memory = error && error->code() == MTL::CommandBufferErrorOutOfMemory;
    const bool late = error && error->code() == MTL::CommandBufferErrorTimeout;
    status = make_error(memory ? StatusCode::out_of_memory : StatusCode::device_error,
                        std::string("Metal: the step ") + (late ? "took too long for the system" : "failed") + ": " +
                            message_of(error));
  }
  running_.reset();
  return status;
}

// Without a connection to the window server the system names no default device, but lists all of them.
NS::SharedPtr<MTL::Device> default_device() {
  if (auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice())) return device;
#if TARGET_OS_OSX
  const auto devices = NS::TransferPtr(MTL::CopyAllDevices());
  if (devices && devices->count() > 0) return NS::RetainPtr(devices->object<MTL::Device>(0));
#endif
  return {};
}

}  // namespace

Result<std::unique_ptr<Backend>> make_metal_backend() {
  const Pool pool;
  auto device = default_device();
  if (!device) return make_error(StatusCode::unsupported, "metal: this machine has no GPU that Metal knows");
  if (!device->supportsFamily(MTL::GPUFamilyApple7))
    return make_error(StatusCode::unsupported,
                      std::string("metal: ") + device->name()->utf8String() + " is older than the M1, which is needed");
  return std::unique_ptr<Backend>(std::make_unique<MetalBackend>(std::move(device), user_cache_folder("metal")));
}

}  // namespace pagoda::device::gpu::metal

#endif

// MetalBackend: memory shared by host and GPU, pipelines, and the steps of metal_steps.h.
#include "device/gpu/metal/metal_backend.h"

#include "base/assign_or_return.h"
#include "base/cache_folder.h"
#include "base/concat.h"
#include "device/gpu/metal/enabled.h"
#ifdef PAGODA_METAL

#include <TargetConditionals.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/gpu/launch_checks.h"
#include "device/gpu/metal/metal_buffer.h"
#include "device/gpu/metal/metal_steps.h"
#include "device/gpu/metal/pipeline_cache.h"
#include "device/gpu/metal/residency.h"
#include "device/host/host_memory.h"

namespace pagoda::device::gpu::metal {

namespace {

// Sequences that decode wait for a step, and so does a new request, so that a step must not be arbitrarily long. The
// screen is served between its parts.
constexpr double kMaxStepSeconds = 1.0;

class MetalBackend final : public Backend, private Pending {
 public:
  explicit MetalBackend(NS::SharedPtr<MTL::Device> device, std::string cache_folder)
      : device_(std::move(device)),
        queue_(NS::TransferPtr(device_->newCommandQueue())),
        residency_(std::make_shared<Residency>(device_.get(), queue_.get())),
        pipelines_(device_.get(), generated::files(), std::move(cache_folder)),
        steps_(device_.get(), queue_.get(), *residency_) {
    info_.name = "metal";
    info_.description = std::string("Metal on ") + device_->name()->utf8String();
    info_.memory_limit_bytes =
        std::min(static_cast<int64_t>(device_->recommendedMaxWorkingSetSize()), host::memory_limit_bytes());
    info_.step_tokens = 512;
    info_.runs_beside_host = true;
    info_.max_step_seconds = kMaxStepSeconds;
  }

  const DeviceInfo& info() const noexcept override { return info_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override;
  std::unique_ptr<Buffer> share(std::unique_ptr<Buffer>& memory) override;
  Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept override;
  Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept override;
  Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) override;
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override {
    steps_.launch(pipeline, groups, threads, bindings);
  }
  Pending& submit() noexcept override {
    steps_.submit();
    pipelines_.save();
    return *this;
  }
  uint64_t repeatable_step() const noexcept override { return steps_.repeatable(); }
  Pending& repeat() noexcept override {
    steps_.repeat();
    return *this;
  }
  StepTimes take_step_times() noexcept override { return steps_.take_times(); }
  bool has_few_registers() const noexcept override { return true; }
  LaneSums lane_sums() const noexcept override { return LaneSums::untried; }
  bool has_tensor_units() const noexcept override {
    return pipelines_.compiles_tensors() && device_->supportsFamily(MTL::GPUFamilyApple10);
  }

 private:
  Status wait() noexcept override { return steps_.wait(); }

  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  std::shared_ptr<Residency> residency_;
  PipelineCache pipelines_;
  DeviceInfo info_;
  MetalSteps steps_;
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
  return std::unique_ptr<Buffer>(
      std::make_unique<MetalBuffer>(std::move(pages), std::move(made), size_bytes, residency_));
}

// Memory that begins at a page is mapped to the end of its last page.
std::unique_ptr<Buffer> MetalBackend::share(std::unique_ptr<Buffer>& memory) {
  const Pool pool;
  const auto page = static_cast<size_t>(getpagesize());
  const size_t size = memory->size_bytes(), whole = (size + page - 1) / page * page;
  const std::byte* const at = memory->host_pointer();
  if (size == 0 || reinterpret_cast<uintptr_t>(at) % page != 0 || whole > device_->maxBufferLength()) return nullptr;
  const MTL::ResourceOptions options = MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeUntracked;
  auto made = NS::TransferPtr(device_->newBuffer(at, whole, options, nullptr));
  if (!made) return nullptr;
  return std::make_unique<MetalBuffer>(std::shared_ptr<Buffer>(std::move(memory)), std::move(made), size, residency_);
}

Status MetalBackend::upload(Buffer& to, int64_t offset, const void* from, size_t size) noexcept {
  PAGODA_RETURN_IF_ERROR(check_copy(to, offset, size));
  steps_.wait_for_device();
  if (size) std::memcpy(to.host_pointer() + offset, from, size);
  return ok_status();
}

Status MetalBackend::download(Buffer& from, int64_t offset, void* to, size_t size) noexcept {
  PAGODA_RETURN_IF_ERROR(check_copy(from, offset, size));
  steps_.wait_for_device();
  if (size) std::memcpy(to, from.host_pointer() + offset, size);
  return ok_status();
}

Result<const Pipeline*> MetalBackend::pipeline(std::string_view kernel, std::span<const Constant> constants) {
  PAGODA_ASSIGN_OR_RETURN(auto found, pipelines_.find_or_make(kernel, constants));
  return static_cast<const Pipeline*>(found);
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

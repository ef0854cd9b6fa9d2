// DryBackend: memory that is mapped but barely touched, and launches that are checked and dropped.
#include "device/gpu/dry_device.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "device/gpu/backend.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/hazards.h"
#include "device/gpu/kernel_table.h"
#include "device/gpu/launch_checks.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kMemoryBytes = int64_t{256} << 30;  // for which models are planned
constexpr size_t kMostCopied = size_t{1} << 20;       // per upload; larger uploads have contents that nothing reads

class DryBuffer final : public Buffer {
 public:
  DryBuffer(void* at, size_t size) noexcept : at_(at), size_(size) {}
  ~DryBuffer() override { munmap(at_, mapped_bytes(size_)); }
  size_t size_bytes() const noexcept override { return size_; }
  std::byte* host_pointer() noexcept override { return static_cast<std::byte*>(at_); }
  static size_t mapped_bytes(size_t size) noexcept { return size > 0 ? size : 1; }

 private:
  void* at_;
  size_t size_;
};

class DryBackend final : public Backend, private Pending {
 public:
  explicit DryBackend(bool overlaps) : overlaps_(overlaps) {
    info_.name = overlaps ? "dry:overlap" : "dry";
    info_.description = std::string("dry device: launches are encoded and not run") +
                        (overlaps ? ", those that follow each other may overlap" : "");
    info_.memory_limit_bytes = kMemoryBytes;
  }
  const DeviceInfo& info() const noexcept override { return info_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size, const std::string& label) override {
    void* at = mmap(nullptr, DryBuffer::mapped_bytes(size), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
      return make_error(StatusCode::out_of_memory, label + ": the system refused " + std::to_string(size) + " bytes");
    return std::unique_ptr<Buffer>(std::make_unique<DryBuffer>(at, size));
  }
  Status upload(Buffer& to, int64_t offset, const void* from, size_t size) noexcept override {
    PAGODA_RETURN_IF_ERROR(check_copy(to, offset, size));
    if (size > 0 && size <= kMostCopied) std::memcpy(to.host_pointer() + offset, from, size);
    return ok_status();
  }
  Status download(Buffer& from, int64_t offset, void* to, size_t size) noexcept override {
    PAGODA_RETURN_IF_ERROR(check_copy(from, offset, size));
    if (size > 0) std::memcpy(to, from.host_pointer() + offset, size);
    return ok_status();
  }
  Result<const Pipeline*> pipeline(std::string_view name, std::span<const Constant> constants) override {
    auto kernel = check_pipeline(generated::files(), name, constants);
    if (!kernel.is_ok()) return kernel.status;
    auto made = std::make_unique<DryPipeline>();
    made->kernel = *kernel;
    pipelines_.push_back(std::move(made));
    return pipelines_.back().get();
  }
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override {
    if (!error_.is_ok()) return;
    const KernelInfo& kernel = *static_cast<const DryPipeline&>(pipeline).kernel;
    error_ = check_launch(kernel, groups, threads, bindings);
    num_barriers_ += hazards_.needs_barrier(kernel, bindings) ? 1 : 0;
  }
  Pending& submit() noexcept override {
    hazards_.clear();
    return *this;
  }
  bool overlaps_launches() const noexcept override { return overlaps_; }
  bool has_few_registers() const noexcept override { return !overlaps_; }  // as Apple's GPUs, or NVIDIA's
  bool runs_launches() const noexcept override { return false; }
  int64_t take_barriers() noexcept override { return std::exchange(num_barriers_, 0); }

 private:
  struct DryPipeline final : Pipeline {
    const KernelInfo* kernel = nullptr;
  };
  Status wait() noexcept override { return std::exchange(error_, ok_status()); }

  bool overlaps_;
  DeviceInfo info_;
  std::vector<std::unique_ptr<DryPipeline>> pipelines_;
  HazardTracker hazards_;
  int64_t num_barriers_ = 0;
  Status error_;
};

template <bool kOverlaps>
Result<std::unique_ptr<Device>> make(int) {
  return make_gpu_device(std::make_unique<DryBackend>(kOverlaps));
}

// Not among the devices that a machine "has", because it computes nothing.
bool is_never_there() { return false; }

}  // namespace

OptionalDevice& dry_device() noexcept {
  static OptionalDevice device{"dry", make<false>, is_never_there, nullptr, nullptr};
  return device;
}

OptionalDevice& dry_overlap_device() noexcept {
  static OptionalDevice device{"dry:overlap", make<true>, is_never_there, nullptr, nullptr};
  return device;
}

}  // namespace pagoda::device::gpu

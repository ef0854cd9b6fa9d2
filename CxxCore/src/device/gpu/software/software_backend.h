// SoftwareBackend: runs the kernels' own source on the host, with a fiber per thread. Slow but exact; it reports faults
// that a GPU would not notice: divergence, endless loops, writes out of bounds, results that depend on the order of
// threads.
// State: the launches since the last barrier, and the first error of the step. Thread rule: Backend's.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "device/gpu/backend.h"
#include "device/gpu/hazards.h"
#include "device/gpu/kernel_table.h"
#include "device/gpu/software/worker.h"

namespace pagoda::device::gpu::software {

class SoftwareBackend final : public Backend, private Pending {
 public:
  // `files` outlives the backend.
  static Result<std::unique_ptr<SoftwareBackend>> create(const Options& options = {},
                                                         std::span<const KernelFile> files = generated::files());

  const DeviceInfo& info() const noexcept override { return info_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override;
  Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept override;
  Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept override;
  Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) override;
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override;
  Pending& submit() noexcept override;
  bool has_tensor_units() const noexcept override { return options_.has_tensor_units; }
  LaneSums lane_sums() const noexcept override { return LaneSums::equal; }  // shim/software/matrix.h
  bool has_wide_products() const noexcept override { return options_.has_wide_products; }

  uint64_t num_launches() const noexcept { return num_launches_; }
  uint64_t num_barriers() const noexcept { return num_barriers_; }

 private:
  struct SoftwarePipeline final : Pipeline {
    const KernelInfo* kernel = nullptr;
    std::vector<uint32_t> constants;  // bits, in the order of kernel->constants
  };
  struct Launch {
    const SoftwarePipeline* pipeline = nullptr;
    Size3 groups, threads;
    KernelInputs inputs;
    size_t values_bytes = 0;
    // Kept from step to step, like everything in a launch: nothing is reallocated.
    std::unique_ptr<std::array<std::byte, kMaxValuesBytes>> values;
    std::vector<Region> regions;
    std::vector<const class GuardedBuffer*> buffers;
  };
  explicit SoftwareBackend(const Options& options, std::span<const KernelFile> files)
      : options_(options), files_(files) {}
  Status record(Launch& launch, const SoftwarePipeline& pipeline, Size3 groups, Size3 threads,
                std::span<const Binding> bindings) const;
  Status check_hazards(const Launch& launch) const;
  std::span<Launch> waiting() noexcept { return {launches_.data(), num_waiting_}; }
  std::span<const Launch> waiting() const noexcept { return {launches_.data(), num_waiting_}; }
  void run_waiting() noexcept;
  void run(const Launch& launch) noexcept;
  Status wait() noexcept override;

  Options options_;
  std::span<const KernelFile> files_;
  DeviceInfo info_;
  Checker* checker_ = installed_checker();
  std::unique_ptr<ThreadPool> pool_;
  std::vector<std::unique_ptr<Worker>> workers_;  // by thread of the pool
  std::vector<std::unique_ptr<SoftwarePipeline>> pipelines_;
  HazardTracker hazards_;
  std::vector<Launch> launches_;  // the first num_waiting_ are waiting, the others are kept for reuse
  size_t num_waiting_ = 0;
  Status error_;  // the first one of the step
  uint64_t num_launches_ = 0, num_barriers_ = 0;
};

}  // namespace pagoda::device::gpu::software

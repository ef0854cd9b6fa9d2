// CudaBackend: our kernels on an NVIDIA GPU. Memory by cuMemAlloc, pipelines by NVRTC from the kernels' text,
// all new ones of a step compiled together when it is submitted, a step as a graph on one stream. A fault inside a step
// poisons the context: that step and all later ones report it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/gpu/backend.h"
#include "device/gpu/cuda/compiler.h"
#include "device/gpu/cuda/driver.h"
#include "device/gpu/cuda/step_graphs.h"
#include "device/gpu/hazards.h"
#include "device/gpu/kernel_table.h"
#include "device/support.h"
#include "device/uploads.h"

namespace pagoda::device::gpu::cuda {

struct CudaPipeline;

class CudaBackend final : public Backend, public DeviceHealth, public UploadsBeside, private Pending {
 public:
  // The first GPU that the driver lists. `unsupported` if there is none. `files` outlives the backend.
  static Result<std::unique_ptr<CudaBackend>> make(const Driver& driver, const Nvrtc& nvrtc,
                                                   std::span<const KernelFile> files = generated::files(),
                                                   CodeCache cache = {});
  ~CudaBackend() override;

  const DeviceInfo& info() const noexcept override { return info_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override;
  Result<std::unique_ptr<Buffer>> allocate_readback(size_t size_bytes, const std::string& label) override;
  Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept override;
  Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept override;
  Status upload_beside(std::span<const Upload> uploads) noexcept override;
  Result<std::unique_ptr<Staging>> make_staging(size_t size_bytes) override;
  Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) override;
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override;
  Pending& submit() noexcept override;
  uint64_t repeatable_step() const noexcept override { return graphs_.last(); }
  Pending& repeat() noexcept override;
  Status health() noexcept override;

  const StepGraphs::Counts& counts() const noexcept { return graphs_.counts(); }
  bool overlaps_launches() const noexcept override { return graphs_.overlaps(); }
  bool has_tensor_units() const noexcept override { return has_warpgroups_; }
  bool has_wide_products() const noexcept override { return has_warpgroups_; }
  std::string kernels_version() const override;
  StepTimes take_step_times() noexcept override { return std::exchange(times_, {}); }

 private:
  CudaBackend(const Driver& driver, std::span<const KernelFile> files, int device, Handle context, Handle stream,
              DeviceInfo info, Compiler compiler, int major, int minor);
  Status wait() noexcept override;
  void record(const CudaPipeline& pipeline, Size3 groups, Size3 threads, std::span<const Binding> bindings);
  Status make_pipelines();
  Status start_step();
  void fail(Status status) noexcept;

  const Driver driver_;
  std::span<const KernelFile> files_;
  int device_;
  Handle context_, stream_;
  Handle copy_stream_ = nullptr;            // of upload_beside()
  Handle begin_ = nullptr, end_ = nullptr;  // events around the step
  DeviceInfo info_;
  Compiler compiler_;
  bool has_warpgroups_;  // compute capability 9.0; later ones have other instructions
  StepGraphs graphs_;
  HazardTracker hazards_;
  std::vector<const CudaPipeline*> step_;  // of the launches recorded in graphs_; their functions are set at the end
  // Launches of this step between the last two barriers, and since the last one.
  LaunchRange before_barrier_, since_barrier_;
  std::map<std::string, std::unique_ptr<CudaPipeline>> pipelines_;  // by kernel and constants
  StepTimes times_;
  Status fault_, verdict_;  // of the step being encoded, and of the one submitted last
};

bool has_cuda_gpu() noexcept;  // whether the driver lists a GPU; asked once
bool has_cuda() noexcept;      // whether there is also a compiler (NVRTC)

// With the libraries of this machine; `unsupported` if they or a GPU are missing.
Result<std::unique_ptr<CudaBackend>> make_cuda_backend();

}  // namespace pagoda::device::gpu::cuda

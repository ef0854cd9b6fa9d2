// CudaStaging: pinned memory, from which the GPU copies while the host fills other memory. An event after the last copy
// tells when the memory may change. State: whether copies are in flight. Thread rule: Backend's.
#pragma once

#include <memory>

#include "device/gpu/backend.h"
#include "device/gpu/cuda/driver.h"

namespace pagoda::device::gpu::cuda {

class CudaStaging final : public Staging {
 public:
  // `pinned` is from allocate_readback() of `backend`, whose stream is `stream`; both outlive this.
  static Result<std::unique_ptr<Staging>> make(Backend& backend, const Driver& driver, Handle context, Handle stream,
                                               std::unique_ptr<Buffer> pinned);
  ~CudaStaging() override;
  std::byte* memory() noexcept override { return pinned_->host_pointer(); }
  Status upload(Buffer& to, int64_t offset_bytes, const std::byte* from, size_t size_bytes) noexcept override;
  Status wait() noexcept override;

 private:
  CudaStaging(Backend& backend, const Driver& driver, Handle context, Handle stream, Handle event,
              std::unique_ptr<Buffer> pinned) noexcept
      : backend_(backend),
        driver_(driver),
        context_(context),
        stream_(stream),
        event_(event),
        pinned_(std::move(pinned)) {}

  Backend& backend_;
  const Driver& driver_;
  Handle context_, stream_, event_;
  std::unique_ptr<Buffer> pinned_;
  bool is_copying_ = false;
};

}  // namespace pagoda::device::gpu::cuda

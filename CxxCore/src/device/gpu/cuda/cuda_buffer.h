// CudaBuffer: memory of an NVIDIA GPU, or pinned host memory that its kernels write. Frees it at its end.
#pragma once

#include <cstddef>

#include "device/gpu/backend.h"
#include "device/gpu/cuda/driver.h"

namespace pagoda::device::gpu::cuda {

class CudaBuffer final : public Buffer {
 public:
  // `host`: its address on the host, for memory of cuMemHostAlloc.
  CudaBuffer(const Driver& driver, Handle context, DeviceAddress address, size_t size_bytes,
             void* host = nullptr) noexcept
      : driver_(driver), context_(context), address_(address), size_bytes_(size_bytes), host_(host) {}
  ~CudaBuffer() override {
    driver_.cuCtxSetCurrent(context_);
    if (host_ != nullptr) driver_.cuMemFreeHost(host_);
    else driver_.cuMemFree_v2(address_);
  }
  size_t size_bytes() const noexcept override { return size_bytes_; }
  std::byte* host_pointer() noexcept override { return static_cast<std::byte*>(host_); }
  DeviceAddress address() const noexcept { return address_; }

 private:
  const Driver driver_;  // a copy: buffers may outlive their backend
  Handle context_;
  DeviceAddress address_;
  size_t size_bytes_;
  void* host_;
};

}  // namespace pagoda::device::gpu::cuda

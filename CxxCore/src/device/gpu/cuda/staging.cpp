// Copies from pinned memory, and waits for them.
#include "device/gpu/cuda/staging.h"

#include <utility>

namespace pagoda::device::gpu::cuda {

Result<std::unique_ptr<Staging>> CudaStaging::make(Backend& backend, const Driver& driver, Handle context,
                                                   Handle stream, std::unique_ptr<Buffer> pinned) {
  constexpr unsigned kDisableTiming = 2;
  Handle event = nullptr;
  driver.cuCtxSetCurrent(context);
  PAGODA_RETURN_IF_ERROR(cuda_status(driver, driver.cuEventCreate(&event, kDisableTiming), "an event of uploads"));
  return std::unique_ptr<Staging>(new CudaStaging(backend, driver, context, stream, event, std::move(pinned)));
}

CudaStaging::~CudaStaging() {
  static_cast<void>(wait());
  driver_.cuEventDestroy_v2(event_);
}

Status CudaStaging::upload(Buffer& to, int64_t offset_bytes, const std::byte* from, size_t size_bytes) noexcept {
  is_copying_ = true;  // also after an error: a copy may have begun
  PAGODA_RETURN_IF_ERROR(backend_.upload(to, offset_bytes, from, size_bytes));
  return cuda_status(driver_, driver_.cuEventRecord(event_, stream_), "an upload");
}

Status CudaStaging::wait() noexcept {
  if (!std::exchange(is_copying_, false)) return ok_status();
  driver_.cuCtxSetCurrent(context_);
  return cuda_status(driver_, driver_.cuEventSynchronize(event_), "an upload");
}

}  // namespace pagoda::device::gpu::cuda

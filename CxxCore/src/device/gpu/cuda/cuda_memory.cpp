// Memory of an NVIDIA GPU, and copies between it and the host.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/cuda/cuda_buffer.h"
#include "device/gpu/cuda/staging.h"

namespace pagoda::device::gpu::cuda {
namespace {

Status check_range(const Buffer& buffer, int64_t offset_bytes, size_t size_bytes, const char* what) {
  if (offset_bytes >= 0 && static_cast<size_t>(offset_bytes) <= buffer.size_bytes() &&
      size_bytes <= buffer.size_bytes() - static_cast<size_t>(offset_bytes))
    return ok_status();
  return make_error(StatusCode::internal, concat("cuda: ", what, " of ", size_bytes, " bytes at byte ", offset_bytes,
                                                 " of a buffer of ", buffer.size_bytes()));
}

}  // namespace

Result<std::unique_ptr<Buffer>> CudaBackend::allocate(size_t size_bytes, const std::string& label) {
  driver_.cuCtxSetCurrent(context_);
  const size_t rounded = std::max<size_t>(size_bytes, 1);
  DeviceAddress address = 0;
  const std::string what = concat(label, ", ", size_bytes, " bytes");
  PAGODA_RETURN_IF_ERROR(cuda_status(driver_, driver_.cuMemAlloc_v2(&address, rounded), what.c_str()));
  auto buffer = std::make_unique<CudaBuffer>(driver_, context_, address, size_bytes);
  PAGODA_RETURN_IF_ERROR(cuda_status(driver_, driver_.cuMemsetD8Async(address, 0, rounded, stream_), what.c_str()));
  return std::unique_ptr<Buffer>(std::move(buffer));
}

// Pinned host memory that kernels write directly: a few tokens over the bus take less time than a copy after the step,
// which would be one more command to wait for.
Result<std::unique_ptr<Buffer>> CudaBackend::allocate_readback(size_t size_bytes, const std::string& label) {
  driver_.cuCtxSetCurrent(context_);
  const size_t rounded = std::max<size_t>(size_bytes, 1);
  const std::string what = concat(label, ", ", size_bytes, " bytes");
  constexpr unsigned kDeviceMap = 2;
  void* host = nullptr;
  PAGODA_RETURN_IF_ERROR(cuda_status(driver_, driver_.cuMemHostAlloc(&host, rounded, kDeviceMap), what.c_str()));
  std::memset(host, 0, rounded);
  DeviceAddress address = 0;
  if (const CudaResult result = driver_.cuMemHostGetDevicePointer_v2(&address, host, 0); result != kCudaSuccess) {
    driver_.cuMemFreeHost(host);
    return cuda_status(driver_, result, what.c_str());
  }
  return std::unique_ptr<Buffer>(std::make_unique<CudaBuffer>(driver_, context_, address, size_bytes, host));
}

// A system may refuse to pin that much memory: copies then wait for the host, and nothing else changes.
Result<std::unique_ptr<Staging>> CudaBackend::make_staging(size_t size_bytes) {
  auto pinned = allocate_readback(size_bytes, "memory to load weights");
  if (!pinned.is_ok()) return Backend::make_staging(size_bytes);
  return CudaStaging::make(*this, driver_, context_, stream_, std::move(*pinned));
}

// From pageable memory the driver has copied `from` when it returns; the stream orders the copy among the steps.
Status CudaBackend::upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept {
  PAGODA_RETURN_IF_ERROR(check_range(to, offset_bytes, size_bytes, "upload"));
  if (size_bytes == 0) return ok_status();
  driver_.cuCtxSetCurrent(context_);
  const DeviceAddress address = static_cast<CudaBuffer&>(to).address() + static_cast<DeviceAddress>(offset_bytes);
  return cuda_status(driver_, driver_.cuMemcpyHtoDAsync_v2(address, from, size_bytes, stream_), "upload");
}

// On a stream of its own, for which only the calling thread waits, once.
Status CudaBackend::upload_beside(std::span<const Upload> uploads) noexcept {
  driver_.cuCtxSetCurrent(context_);
  for (const Upload& upload : uploads) {
    PAGODA_RETURN_IF_ERROR(check_range(*upload.to, upload.offset_bytes, upload.size_bytes, "upload"));
    if (upload.size_bytes == 0) continue;
    const DeviceAddress address =
        static_cast<CudaBuffer&>(*upload.to).address() + static_cast<DeviceAddress>(upload.offset_bytes);
    PAGODA_RETURN_IF_ERROR(cuda_status(
        driver_, driver_.cuMemcpyHtoDAsync_v2(address, upload.from, upload.size_bytes, copy_stream_), "upload"));
  }
  return cuda_status(driver_, driver_.cuStreamSynchronize(copy_stream_), "upload");
}

// Steps that wrote the data have been waited for, so no order among the streams is needed.
Status CudaBackend::download_beside(std::span<const Download> downloads) noexcept {
  driver_.cuCtxSetCurrent(context_);
  for (const Download& download : downloads) {
    PAGODA_RETURN_IF_ERROR(check_range(*download.from, download.offset_bytes, download.size_bytes, "download"));
    if (download.size_bytes == 0) continue;
    const DeviceAddress address =
        static_cast<CudaBuffer&>(*download.from).address() + static_cast<DeviceAddress>(download.offset_bytes);
    PAGODA_RETURN_IF_ERROR(
        cuda_status(driver_, driver_.cuMemcpyDtoHAsync_v2(download.to, address, download.size_bytes, download_stream_),
                    "download"));
  }
  return cuda_status(driver_, driver_.cuStreamSynchronize(download_stream_), "download");
}

Status CudaBackend::download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept {
  PAGODA_RETURN_IF_ERROR(check_range(from, offset_bytes, size_bytes, "download"));
  if (size_bytes == 0) return ok_status();
  driver_.cuCtxSetCurrent(context_);
  const DeviceAddress address = static_cast<CudaBuffer&>(from).address() + static_cast<DeviceAddress>(offset_bytes);
  PAGODA_RETURN_IF_ERROR(
      cuda_status(driver_, driver_.cuMemcpyDtoHAsync_v2(to, address, size_bytes, stream_), "download"));
  return cuda_status(driver_, driver_.cuStreamSynchronize(stream_), "download");
}

}  // namespace pagoda::device::gpu::cuda

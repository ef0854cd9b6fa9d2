// upload_beside(), download_beside(): copy to and from device memory on any thread, beside steps that do not use that
// memory, or that only read what is copied from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/result.h"
#include "device/device.h"

namespace pagoda::device {

struct Upload {
  Buffer* to = nullptr;
  int64_t offset_bytes = 0;
  const std::byte* from = nullptr;
  size_t size_bytes = 0;
};

struct Download {
  Buffer* from = nullptr;
  int64_t offset_bytes = 0;
  std::byte* to = nullptr;
  size_t size_bytes = 0;
};

// The address of such a range in memory that the host sees; null if it is outside.
inline std::byte* host_range(Buffer& buffer, int64_t offset_bytes, size_t size_bytes) noexcept {
  std::byte* memory = buffer.host_pointer();
  const bool is_inside = offset_bytes >= 0 && static_cast<size_t>(offset_bytes) <= buffer.size_bytes() &&
                         size_bytes <= buffer.size_bytes() - static_cast<size_t>(offset_bytes);
  return memory && is_inside ? memory + offset_bytes : nullptr;
}

// For memory that the host sees.
inline Status copy_to_host_memory(std::span<const Upload> uploads) noexcept {
  for (const Upload& upload : uploads) {
    std::byte* to = host_range(*upload.to, upload.offset_bytes, upload.size_bytes);
    if (!to)
      return make_error(StatusCode::internal, "an upload beside a step lies outside the memory that the host sees");
    if (upload.size_bytes > 0) std::memcpy(to, upload.from, upload.size_bytes);
  }
  return ok_status();
}
inline Status copy_from_host_memory(std::span<const Download> downloads) noexcept {
  for (const Download& download : downloads) {
    const std::byte* from = host_range(*download.from, download.offset_bytes, download.size_bytes);
    if (!from)
      return make_error(StatusCode::internal, "a download beside a step lies outside the memory that the host sees");
    if (download.size_bytes > 0) std::memcpy(download.to, from, download.size_bytes);
  }
  return ok_status();
}

// A device, or the backend of one, with memory that the host does not see.
class CopiesBeside {
 public:
  virtual ~CopiesBeside() = default;
  virtual Status upload_beside(std::span<const Upload> uploads) noexcept = 0;
  virtual Status download_beside(std::span<const Download> downloads) noexcept = 0;
};

// The bytes have arrived when they return. A device waits for all of them at once. Owner: a Device or a gpu::Backend.
template <class Owner>
Status upload_beside(Owner& owner, std::span<const Upload> uploads) noexcept {
  auto* own = dynamic_cast<CopiesBeside*>(&owner);
  return own ? own->upload_beside(uploads) : copy_to_host_memory(uploads);
}
// Of what finished steps have written.
template <class Owner>
Status download_beside(Owner& owner, std::span<const Download> downloads) noexcept {
  auto* own = dynamic_cast<CopiesBeside*>(&owner);
  return own ? own->download_beside(downloads) : copy_from_host_memory(downloads);
}

}  // namespace pagoda::device

// upload_beside(): copies to device memory from any thread, beside steps that do not use that memory.
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

  bool is_inside() const noexcept {
    return offset_bytes >= 0 && static_cast<size_t>(offset_bytes) <= to->size_bytes() &&
           size_bytes <= to->size_bytes() - static_cast<size_t>(offset_bytes);
  }
};

// For memory that the host sees.
inline Status copy_to_host_memory(std::span<const Upload> uploads) noexcept {
  for (const Upload& upload : uploads) {
    std::byte* memory = upload.to->host_pointer();
    if (!memory || !upload.is_inside())
      return make_error(StatusCode::internal, "an upload beside a step lies outside the memory that the host sees");
    if (upload.size_bytes > 0) std::memcpy(memory + upload.offset_bytes, upload.from, upload.size_bytes);
  }
  return ok_status();
}

// A device, or the backend of one, with memory that the host does not see.
class UploadsBeside {
 public:
  virtual ~UploadsBeside() = default;
  virtual Status upload_beside(std::span<const Upload> uploads) noexcept = 0;
};

// The bytes have arrived when it returns. A device waits for all of them at once. Owner: a Device or a gpu::Backend.
template <class Owner>
Status upload_beside(Owner& owner, std::span<const Upload> uploads) noexcept {
  auto* own = dynamic_cast<UploadsBeside*>(&owner);
  return own ? own->upload_beside(uploads) : copy_to_host_memory(uploads);
}

}  // namespace pagoda::device

// Staging for backends without memory that copies faster than any other.
#include <vector>

#include "base/concat.h"
#include "device/gpu/backend.h"

namespace pagoda::device::gpu {
namespace {

class HostStaging final : public Staging {
 public:
  HostStaging(Backend& backend, size_t size_bytes) : backend_(backend), memory_(size_bytes) {}
  std::byte* memory() noexcept override { return memory_.data(); }
  Status upload(Buffer& to, int64_t offset_bytes, const std::byte* from, size_t size_bytes) noexcept override {
    return backend_.upload(to, offset_bytes, from, size_bytes);
  }
  Status wait() noexcept override { return ok_status(); }

 private:
  Backend& backend_;
  std::vector<std::byte> memory_;
};

}  // namespace

Result<std::unique_ptr<Staging>> Backend::make_staging(size_t size_bytes) {
  try {
    return std::unique_ptr<Staging>(std::make_unique<HostStaging>(*this, size_bytes));
  } catch (const std::bad_alloc&) {
    return make_error(StatusCode::out_of_memory, concat("no host memory to load weights, ", size_bytes, " bytes"));
  }
}

}  // namespace pagoda::device::gpu

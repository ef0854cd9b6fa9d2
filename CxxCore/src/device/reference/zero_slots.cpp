// zero_slots: clears whole slots of a pool.
#include <cstring>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void zero_slots(const ZeroSlotsArgs& args) noexcept {
  const int64_t element_bytes = static_cast<int64_t>(dtype_bytes(args.pool.dtype));
  int64_t slot_bytes = element_bytes;
  for (int i = 1; i < args.pool.rank; ++i) slot_bytes *= args.pool.shape[i];
  for (int64_t i = 0; i < args.slots.shape[0]; ++i)
    std::memset(
        host_data<std::byte>(args.pool) + host_data<int32_t>(args.slots)[i] * args.pool.strides[0] * element_bytes, 0,
        static_cast<size_t>(slot_bytes));
}

}  // namespace pagoda::device::reference

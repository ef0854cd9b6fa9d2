// zero_slots: a task per slot.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <cstring>

namespace pagoda::device::cpu {

using host::at;

void zero_slots(const Context& context, const ZeroSlotsArgs& args) noexcept {
  const int64_t element_bytes = static_cast<int64_t>(dtype_bytes(args.pool.dtype));
  int64_t slot_size = 1;
  for (int i = 1; i < args.pool.rank; ++i) slot_size *= args.pool.shape[i];
  context.for_each(args.slots.shape[0], slot_size, [&](int64_t i, int) {
    const int64_t first = host_data<int32_t>(args.slots)[i] * args.pool.strides[0];
    std::memset(host_data<std::byte>(args.pool) + first * element_bytes, 0,
                static_cast<size_t>(slot_size * element_bytes));
  });
}

}  // namespace pagoda::device::cpu

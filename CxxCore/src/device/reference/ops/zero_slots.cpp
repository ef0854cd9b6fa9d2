// zero_slots: clears whole slots of a pool.
#include <cstring>

#include "device/host/access.h"
#include "device/reference/reference_ops.h"

namespace pagoda::device::reference {

void run(const ZeroSlotsArgs& args) noexcept {
  for (int64_t i = 0; i < args.slots.shape[0]; ++i)
    std::memset(host::slot_at(args.pool, host_data<int32_t>(args.slots)[i]), 0,
                static_cast<size_t>(host::slot_bytes(args.pool)));
}

}  // namespace pagoda::device::reference

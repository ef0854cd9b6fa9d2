// zero_slots: a task per slot.
#include <cstring>

#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

void run(const Context& context, const ZeroSlotsArgs& args) noexcept {
  const int64_t slot_bytes = host::slot_bytes(args.pool);
  context.for_each(args.slots.shape[0], slot_bytes / 4, [&](int64_t i, int) {
    std::memset(host::slot_at(args.pool, host_data<int32_t>(args.slots)[i]), 0, static_cast<size_t>(slot_bytes));
  });
}

}  // namespace pagoda::device::cpu

// copy_slot: a task per 64 KiB.
#include <algorithm>
#include <cstring>

#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

void run(const Context& context, const CopySlotArgs& args) noexcept {
  constexpr int64_t kTaskBytes = 64 << 10;
  const int64_t slot_bytes = host::slot_bytes(args.pool);
  const std::byte* from = host::slot_at(args.pool, args.from);
  std::byte* to = host::slot_at(args.pool, args.to);
  const int64_t num_tasks = (slot_bytes + kTaskBytes - 1) / kTaskBytes;
  context.for_each(num_tasks, std::min(slot_bytes, kTaskBytes) / 4, [&](int64_t i, int) {
    const int64_t first = i * kTaskBytes;
    std::memcpy(to + first, from + first, static_cast<size_t>(std::min(kTaskBytes, slot_bytes - first)));
  });
}

}  // namespace pagoda::device::cpu

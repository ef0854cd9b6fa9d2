// copy_slot: copies one slot of a pool to another.
#include <cstring>

#include "device/host/access.h"
#include "device/reference/reference_ops.h"

namespace pagoda::device::reference {

void run(const CopySlotArgs& args) noexcept {
  std::memcpy(host::slot_at(args.pool, args.to), host::slot_at(args.pool, args.from),
              static_cast<size_t>(host::slot_bytes(args.pool)));
}

}  // namespace pagoda::device::reference

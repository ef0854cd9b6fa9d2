// zero_slots and copy_slot: slots in words if their size and alignment allow it, otherwise in bytes.
#include <algorithm>

#include "args/rows.h"
#include "device/gpu/gpu_encoder.h"
#include "device/host/access.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kThreads = 128, kUnitsPerThread = 8, kMaxGroups = 1024;

struct Units {
  pagoda_args::Slot args{};
  bool has_words = true;
  uint32_t groups = 1;  // threadgroups per slot
};

Units units_of(const Tensor& pool) noexcept {
  const int64_t slot_bytes = host::slot_bytes(pool);
  const int64_t stride_bytes = pool.strides[0] * static_cast<int64_t>(dtype_bytes(pool.dtype));
  const int64_t unit = (slot_bytes | stride_bytes | pool.offset_bytes) % 4 == 0 ? 4 : 1;
  Units units;
  units.has_words = unit == 4;
  units.args.slot_stride = stride_bytes / unit;
  units.args.slot_units = slot_bytes / unit;
  units.groups =
      as_uint(std::clamp<int64_t>(ceil_divide(units.args.slot_units, kThreads * kUnitsPerThread), 1, kMaxGroups));
  return units;
}

}  // namespace

void GpuEncoder::record(const ZeroSlotsArgs& a) noexcept {
  if (!accept(a, a.slots)) return;
  const Units units = units_of(a.pool);
  launch(units.has_words ? kernels::zero_slots::words : kernels::zero_slots::bytes,
         {{units.groups, as_uint(a.slots.shape[0])}}, {a.pool, a.slots}, units.args);
}

void GpuEncoder::record(const CopySlotArgs& a) noexcept {
  Units units = units_of(a.pool);
  units.args.from = a.from;
  units.args.to = a.to;
  if (a.from != a.to)
    launch(units.has_words ? kernels::copy_slot::words : kernels::copy_slot::bytes, {{units.groups}}, {a.pool},
           units.args);
}

}  // namespace pagoda::device::gpu

// The text of slots.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource slots_source() noexcept {
  return {"slots",
R"msl(#include "common.h"
#include "args/rows.h"
template <typename Unit>
kernel void zero_slots(device Unit* pool [[buffer(0)]],
                       device const int* slots [[buffer(1)]],
                       constant pagoda_args::Slot& args [[buffer(2)]],
                       uint2 tg [[threadgroup_position_in_grid]],
                       uint2 grid [[threadgroups_per_grid]],
                       uint2 thread_at [[thread_position_in_threadgroup]],
                       uint2 size [[threads_per_threadgroup]]) {
  device Unit* slot = pool + long(slots[tg.y]) * args.slot_stride;
  for (long i = long(tg.x * size.x + thread_at.x); i < args.slot_units; i += long(grid.x * size.x)) {
    slot[i] = Unit(0);
  }
}
template <typename Unit>
kernel void copy_slot(device Unit* pool [[buffer(0)]],
                      constant pagoda_args::Slot& args [[buffer(1)]],
                      uint tg [[threadgroup_position_in_grid]],
                      uint grid [[threadgroups_per_grid]],
                      uint tid [[thread_position_in_threadgroup]],
                      uint size [[threads_per_threadgroup]]) {
  device Unit* to = pool + args.to * args.slot_stride;
  device const Unit* from = pool + args.from * args.slot_stride;
  for (long i = long(tg * size + tid); i < args.slot_units; i += long(grid * size)) {
    to[i] = from[i];
  }
}
MSL_INSTANCE(zero_slots_words, zero_slots, uint)
MSL_INSTANCE(zero_slots_bytes, zero_slots, uchar)
MSL_INSTANCE(copy_slot_words, copy_slot, uint)
MSL_INSTANCE(copy_slot_bytes, copy_slot, uchar)
)msl",
R"msl(#define MSL_KERNEL_zero_slots(BOUNDS, Unit) MSL_GLOBAL(BOUNDS)(Unit* pool, const int* slots, const pagoda_args::Slot args) { msl_let_dependents_begin(); msl_wait_for_inputs(); zero_slots<Unit>(pool, slots, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint2>(msl_threadgroups_per_grid()), msl_builtin<uint2>(msl_thread_position_in_threadgroup()), msl_builtin<uint2>(msl_threads_per_threadgroup())); }
#define MSL_KERNEL_copy_slot(BOUNDS, Unit) MSL_GLOBAL(BOUNDS)(Unit* pool, const pagoda_args::Slot args) { msl_let_dependents_begin(); msl_wait_for_inputs(); copy_slot<Unit>(pool, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_threadgroups_per_grid()), msl_builtin<uint>(msl_thread_position_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup())); }
#define MSL_ENTRY_zero_slots_words MSL_KERNEL_zero_slots((1024), uint)
#define MSL_ENTRY_zero_slots_bytes MSL_KERNEL_zero_slots((1024), uchar)
#define MSL_ENTRY_copy_slot_words MSL_KERNEL_copy_slot((1024), uint)
#define MSL_ENTRY_copy_slot_bytes MSL_KERNEL_copy_slot((1024), uchar)
)msl"};
}
}  // namespace pagoda::device::gpu::generated

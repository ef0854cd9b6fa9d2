// The text of slots.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource slots_source() noexcept {
  return {"slots",
R"msl(#pragma METAL fp contract(off)
// zero_slots and copy_slot: whole slots of a pool, in words if their size allows it, otherwise in bytes.
#include "common.h"
#include "args/rows.h"

// Grid: [chunks, slots]
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

// Grid: [chunks]
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

template [[host_name("zero_slots_words")]] kernel decltype(zero_slots<uint>) zero_slots<uint>;
template [[host_name("zero_slots_bytes")]] kernel decltype(zero_slots<uchar>) zero_slots<uchar>;
template [[host_name("copy_slot_words")]] kernel decltype(copy_slot<uint>) copy_slot<uint>;
template [[host_name("copy_slot_bytes")]] kernel decltype(copy_slot<uchar>) copy_slot<uchar>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/slots.metal"
#include "Shaders/common.h"
#include "Shaders/args/rows.h"


template <typename Unit>
MSL_KERNEL void zero_slots(MSL_DEVICE Unit* pool ,
                       MSL_DEVICE const int* slots ,
                       MSL_CONSTANT pagoda_args::Slot& args ,
                       uint2 tg ,
                       uint2 grid ,
                       uint2 thread_at ,
                       uint2 size ) {
  MSL_DEVICE Unit* slot = pool + long(slots[tg.y]) * args.slot_stride;
  for (long i = long(tg.x * size.x + thread_at.x); i < args.slot_units; i += long(grid.x * size.x)) {
    slot[i] = Unit(0);
  }
}


template <typename Unit>
MSL_KERNEL void copy_slot(MSL_DEVICE Unit* pool ,
                      MSL_CONSTANT pagoda_args::Slot& args ,
                      uint tg ,
                      uint grid ,
                      uint tid ,
                      uint size ) {
  MSL_DEVICE Unit* to = pool + args.to * args.slot_stride;
  MSL_DEVICE const Unit* from = pool + args.from * args.slot_stride;
  for (long i = long(tg * size + tid); i < args.slot_units; i += long(grid * size)) {
    to[i] = from[i];
  }
}

# 1 "slots.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_zero_slots_words)
extern "C" __global__ void __launch_bounds__(1024) zero_slots_words(uint* pool, const int* slots, const pagoda_args::Slot args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  zero_slots<uint>(pool, slots, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint2>(msl_threadgroups_per_grid()), msl_builtin<uint2>(msl_thread_position_in_threadgroup()), msl_builtin<uint2>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_zero_slots_bytes)
extern "C" __global__ void __launch_bounds__(1024) zero_slots_bytes(uchar* pool, const int* slots, const pagoda_args::Slot args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  zero_slots<uchar>(pool, slots, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint2>(msl_threadgroups_per_grid()), msl_builtin<uint2>(msl_thread_position_in_threadgroup()), msl_builtin<uint2>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_copy_slot_words)
extern "C" __global__ void __launch_bounds__(1024) copy_slot_words(uint* pool, const pagoda_args::Slot args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  copy_slot<uint>(pool, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_threadgroups_per_grid()), msl_builtin<uint>(msl_thread_position_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_copy_slot_bytes)
extern "C" __global__ void __launch_bounds__(1024) copy_slot_bytes(uchar* pool, const pagoda_args::Slot args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  copy_slot<uchar>(pool, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_threadgroups_per_grid()), msl_builtin<uint>(msl_thread_position_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated

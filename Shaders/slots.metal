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

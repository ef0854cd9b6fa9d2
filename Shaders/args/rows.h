// Arguments of gather_rows.metal, gelu.metal, sigmoid_gate.metal and slots.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct GatherRows {
  long x_stride, out_stride;  // elements
  uint cols, reserved;
};
static_assert(sizeof(GatherRows) == 24, "host and kernel agree");

struct SigmoidGate {
  long x_stride, x_head_stride, gate_stride, gate_head_stride, out_stride, out_head_stride;  // elements
  uint heads, dim;
};
static_assert(sizeof(SigmoidGate) == 56, "host and kernel agree");

struct GeluMul {
  long x_stride, out_stride;  // elements
  uint width, reserved;       // of out
};
static_assert(sizeof(GeluMul) == 24, "host and kernel agree");

struct Gelu {
  long x_stride;  // elements
  uint width;
  uint is_exact;  // else by tanh
};
static_assert(sizeof(Gelu) == 16, "host and kernel agree");

struct ScaleRows {
  long x_stride;  // elements
  uint width;
  float factor;
};
static_assert(sizeof(ScaleRows) == 16, "host and kernel agree");

// Slots are counted in units: words of 4 bytes, or bytes.
struct Slot {
  long slot_stride;  // units from one slot to the next
  long slot_units;   // units per slot
  long from, to;     // copy_slot only
};
static_assert(sizeof(Slot) == 32, "host and kernel agree");

}  // namespace pagoda_args

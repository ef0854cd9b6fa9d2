// args/rows.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/rows.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct GatherRows {
  long x_stride, out_stride;
  uint cols, reserved;
};
static_assert(sizeof(GatherRows) == 24, "host and kernel agree");

struct SigmoidGate {
  long x_stride, x_head_stride, gate_stride, gate_head_stride, out_stride, out_head_stride;
  uint heads, dim;
};
static_assert(sizeof(SigmoidGate) == 56, "host and kernel agree");

struct GeluMul {
  long x_stride, out_stride;
  uint width, reserved;
};
static_assert(sizeof(GeluMul) == 24, "host and kernel agree");

struct Gelu {
  long x_stride;
  uint width;
  uint is_exact;
};
static_assert(sizeof(Gelu) == 16, "host and kernel agree");

struct ScaleRows {
  long x_stride;
  uint width;
  float factor;
};
static_assert(sizeof(ScaleRows) == 16, "host and kernel agree");


struct Slot {
  long slot_stride;
  long slot_units;
  long from, to;
};
static_assert(sizeof(Slot) == 32, "host and kernel agree");

}

// args/row_source.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/row_source.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {
# 10 "Shaders/args/row_source.h"
struct RowSource {
  long x_head_stride, gate_stride, gate_head_stride;
  uint kind;
  uint heads;
  uint dim;
  float eps;
  float weight_offset;
  uint reserved;
};
static_assert(sizeof(RowSource) == 48, "host and kernel agree");

}

// args/matmul.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/matmul.h"
#include "device/gpu/generated/args_row_source.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct MatmulRows {
  long x_stride;
  uint cols;
  uint padded_cols;
  uint is_wide;
  uint tile_rows;
  RowSource source;
};
static_assert(sizeof(MatmulRows) == 72, "host and kernel agree");


struct Scales {
  uint log_unit;
  uint words;
  uint next;
  uint step;
  uint kind;
  uint zero;
};
static_assert(sizeof(Scales) == 24, "host and kernel agree");

struct Matmul {
  long x_stride;
  long out_stride;
  uint rows;
  uint cols;
  uint out_cols;
  uint padded_cols;
  uint run;
  uint has_bias;
  uint silu_mul;
  uint adds;
  RowSource source;
  Scales scales;
};
static_assert(sizeof(Matmul) == 120, "host and kernel agree");

}

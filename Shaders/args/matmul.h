// Arguments of matmul_*.metal, shared by the kernels and the host.
#pragma once

#include "args/row_source.h"
#include "args/types.h"

namespace pagoda_args {

struct MatmulRows {
  long x_stride;  // elements from one row to the next
  uint cols;
  uint padded_cols;
  uint is_wide;    // whether rows can be read four elements at a time and have no padding
  uint tile_rows;  // of the layout of matmul_wide (wide_tile.h), a multiple of 8; 0: rows are in order
  RowSource source;
};
static_assert(sizeof(MatmulRows) == 72, "host and kernel agree");

// The scales of a stored format (stored.h): a record of `words` words for 2^log_unit columns of a row.
struct Scales {
  uint log_unit;
  uint words;
  uint next;  // the word after the first that a chunk of 64 columns needs, 0 if it needs one,
  uint step;  // and how many words further that of the next chunk is
  uint kind;  // flags of stored.h
  uint zero;  // subtracted from codes
};
static_assert(sizeof(Scales) == 24, "host and kernel agree");

struct Matmul {
  long x_stride;    // elements from one row of x to the next
  long out_stride;  // elements from one row to the next
  uint rows;        // M
  uint cols;        // K
  uint out_cols;    // N, or N / 2 with silu_mul
  uint padded_cols;
  uint run;  // columns summed together: an eighth of padded_cols, rounded up to 64
  uint has_bias;
  uint silu_mul;
  uint adds;         // whether to add to the contents of `out`
  RowSource source;  // for matmul_few_made_*
  Scales scales;     // of stored formats
};
static_assert(sizeof(Matmul) == 120, "host and kernel agree");

}  // namespace pagoda_args

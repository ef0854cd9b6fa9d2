// Arguments of route_experts, expert_* and combine_experts, shared by the kernels and the host.
#pragma once

#include "args/matmul.h"
#include "args/types.h"

namespace pagoda_args {

struct RouteExperts {
  long logits_stride, ids_stride, weights_stride;  // elements from one token to the next
  uint num_experts;
  uint chosen;  // experts per token
  uint normalise;
  uint is_sigmoid, has_bias;
  uint num_groups, groups_per_token;  // at most 32 groups
  float scale;
};
static_assert(sizeof(RouteExperts) == 56, "host and kernel agree");

struct ExpertTiles {
  long ids_stride;  // elements from one token to the next
  uint tokens;
  uint chosen;
  uint num_experts;
  uint tile_rows;
};
static_assert(sizeof(ExpertTiles) == 24, "host and kernel agree");

struct ExpertMatmul {
  long x_stride, out_stride;  // elements from one row to the next
  uint x_share;               // rows of out that share a row of x: all of a token, or one
  uint cols;                  // of x
  uint padded_cols;           // of the weight
  uint out_cols;              // N of one expert, or N / 2 with silu_mul
  uint expert_rows;           // N
  uint silu_mul;
};
static_assert(sizeof(ExpertMatmul) == 40, "host and kernel agree");

struct ExpertProducts {
  Matmul matmul;     // for the rows of one expert
  uint x_share;      // as in ExpertMatmul
  uint expert_rows;  // N
};
static_assert(sizeof(ExpertProducts) == 128, "host and kernel agree");

struct CombineExperts {
  long x_stride, weights_stride, shared_stride, gate_stride, out_stride;  // elements from one row to the next
  uint cols;
  uint chosen;
  uint has_shared;  // 0: no shared expert; 2: a shared expert without a gate
};
static_assert(sizeof(CombineExperts) == 56, "host and kernel agree");

}  // namespace pagoda_args

// Arguments of the mixture-of-experts ops: route_experts, expert_matmul and combine_experts.
// T tokens, E experts, k experts per token; expert row t * k + j belongs to token t's j-th expert.
#pragma once

#include <cstdint>

#include "device/op_args.h"

namespace pagoda::device {

constexpr int64_t kMaxExperts = 4096, kMaxExpertsPerToken = 64;

// The k experts with the highest scores, highest first (lower index on ties), and their weights. Scores are
// softmax(logits), or sigmoid(logits) plus an optional bias; the weights are the scores without bias, divided by their
// sum if `normalise`, times `scale`. With groups (E / num_groups adjacent experts each) only those of the
// `groups_per_token` best groups are candidates: a group is as good as its best expert, or with a sigmoid as the sum of
// its best two.
struct RouteExpertsArgs {
  static constexpr const char* kName = "route_experts";
  Tensor logits;   // f32 [T, E], rows strided
  Tensor ids;      // i32 [T, k]
  Tensor weights;  // f32 [T, k]
  bool normalise = true;
  bool is_sigmoid = false;
  Tensor bias{};  // f32 [E], optional; only with a sigmoid
  int64_t num_groups = 1, groups_per_token = 1;
  float scale = 1.0f;
  // Weights whose products with these ids follow, or null: if they are in files, the device begins to read. If the ids
  // are a guess at those of a later step of the model, it reads when nothing else is to be read.
  const Weight* experts_in = nullptr;
  const Weight* experts_out = nullptr;
  bool is_guess = false;
};

// out[t * k + j] = x W_e^T with e = ids[t][j] and W_e the e-th slice of the weight; silu_mul as in MatmulArgs. The rows
// of an expert are multiplied together, so that its weights are read once; each row sums K as if it were alone.
struct ExpertMatmulArgs {
  static constexpr const char* kName = "expert_matmul";
  Tensor x;                        // f32 [T, K]: one row shared by all experts of a token; or [T * k, K]
  const Weight* weight = nullptr;  // [E * N, K]
  int64_t num_experts = 0;
  Tensor ids;  // i32 [T, k]
  Tensor out;  // f32 [T * k, N], with silu_mul N / 2
  bool silu_mul = false;
};

// out[t] = sigmoid(gate[t]) shared[t] (if there is a shared expert; without a gate, shared[t]), plus the sum over j, in
// order, of weights[t][j] x[t * k + j]. out may alias shared.
struct CombineExpertsArgs {
  static constexpr const char* kName = "combine_experts";
  Tensor x;        // f32 [T * k, H]
  Tensor weights;  // f32 [T, k]
  Tensor shared;   // f32 [T, H]; absent, like gate, if the mixture has no shared expert
  Tensor gate;     // f32 [T, 1], rows strided; optional
  Tensor out;      // f32 [T, H]
};

}  // namespace pagoda::device

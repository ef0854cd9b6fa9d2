// ExpertOps: the operations of a mixture of experts. A device has them when its encoder is one (see expert_ops()).
// T tokens, E experts, k of them for each token, rows of experts: token t's j-th expert has row t * k + j.
#pragma once

#include <cstdint>

#include "device/device.h"

namespace pagoda::device {

constexpr int64_t kMaxExperts = 4096, kMaxExpertsPerToken = 64;
constexpr int64_t kExpertRowMultiple = 16;  // of every expert's rows of a weight: they begin at a packed block

// The k most probable of softmax(logits), most probable first, of equal ones the lower index; and their probabilities,
// divided by their sum when `normalise` says so.
struct RouteExpertsArgs {
  Tensor logits;   // f32 [T, E], rows strided
  Tensor ids;      // i32 [T, k]
  Tensor weights;  // f32 [T, k]
  bool normalise = true;
};

// out[t * k + j] = x W_e^T with e = ids[t][j] and W_e the e-th part of the weight; silu_mul as in MatmulArgs. The rows
// of an expert are multiplied together, so that it is read once, and each sums K as if it were alone.
struct ExpertMatmulArgs {
  Tensor x;                        // f32 [T, K]: one row for all experts of a token; or [T * k, K]
  const Weight* weight = nullptr;  // [E * N, K]
  int64_t num_experts = 0;
  Tensor ids;  // i32 [T, k]
  Tensor out;  // f32 [T * k, N], with silu_mul N / 2
  bool silu_mul = false;
};

// out[t] = sum over j, in order, of weights[t][j] x[t * k + j], after sigmoid(gate[t]) shared[t] where there is a
// shared expert. out may be shared.
struct CombineExpertsArgs {
  Tensor x;        // f32 [T * k, H]
  Tensor weights;  // f32 [T, k]
  Tensor shared;   // f32 [T, H]; absent, like gate, in a mixture without a shared expert
  Tensor gate;     // f32 [T, 1], rows strided
  Tensor out;      // f32 [T, H]
};

class ExpertOps {
 public:
  virtual ~ExpertOps() = default;
  virtual void route_experts(const RouteExpertsArgs&) noexcept = 0;
  virtual void expert_matmul(const ExpertMatmulArgs&) noexcept = 0;
  virtual void combine_experts(const CombineExpertsArgs&) noexcept = 0;
};

// Null on devices without them.
inline ExpertOps* expert_ops(Encoder& encoder) noexcept { return dynamic_cast<ExpertOps*>(&encoder); }

}  // namespace pagoda::device

// Arguments of the ops of hyper-connections (Qwen4-Exp): S residual streams of H numbers, side by side in a row.
#pragma once

#include "device/op_args.h"

namespace pagoda::device {

// x = silu(factor * x)
struct SiluRowsArgs {
  static constexpr const char* kName = "silu_rows";
  Tensor x;  // f32 [T, n]
  float factor = 1.0f;
};

// out = mean over streams of sigmoid(gates) * x
struct MixStreamsArgs {
  static constexpr const char* kName = "mix_streams";
  Tensor x, gates;  // f32 [T, S * H]
  Tensor out;       // f32 [T, H]
};

// Adds x to each stream, times 2 sigmoid(factor * weight).
struct InjectStreamsArgs {
  static constexpr const char* kName = "inject_streams";
  Tensor x;        // f32 [T, H]
  Tensor weights;  // f32 [T, S]
  float factor = 1.0f;
  Tensor streams;  // f32 [T, S * H]
};

// out = sigmoid(g) * values in each stream, where g is the signed square root of key . query / sqrt(H), whose size is
// at least 1e-6 before the root is taken.
struct GateStreamsArgs {
  static constexpr const char* kName = "gate_streams";
  Tensor keys, queries;  // f32 [T, S * H]
  Tensor values;         // f32 [T, H]
  Tensor out;            // f32 [T, S * H]
};

}  // namespace pagoda::device

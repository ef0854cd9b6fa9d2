// Arguments of gelu_mul and scale_rows, which Gemma and MiniCPM need.
#pragma once

#include "device/op_args.h"

namespace pagoda::device {

// out[t][i] = gelu(x[t][i]) * x[t][F + i] with the tanh form of gelu: g / (1 + exp(-2 sqrt(2 / pi) (g + 0.044715
// g^3))). out may be the first half of x.
struct GeluMulArgs {
  static constexpr const char* kName = "gelu_mul";
  Tensor x;    // f32 [T, 2 F]
  Tensor out;  // f32 [T, F], rows strided
};

// x = x * factor
struct ScaleRowsArgs {
  static constexpr const char* kName = "scale_rows";
  Tensor x;  // f32 [T, H], rows strided
  float factor = 1.0f;
};

}  // namespace pagoda::device

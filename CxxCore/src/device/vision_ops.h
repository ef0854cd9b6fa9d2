// Arguments of layer_norm and gelu, which vision towers need.
#pragma once

#include "device/op_args.h"

namespace pagoda::device {

// out = (x - mean(x)) * rsqrt(var(x) + eps) * weight + bias, after x += residual when residual is present (x is
// written). The variance is that of the whole row. The residual is consumed, as in RmsNormArgs.
struct LayerNormArgs {
  static constexpr const char* kName = "layer_norm";
  Tensor x;             // f32 [T, H]
  Tensor residual;      // f32 [T, H] or absent
  Tensor weight, bias;  // f32 [H]
  float eps = 1e-6f;
  Tensor out;  // f32 [T, H]
};

// x = gelu(x): by tanh, as in GeluMulArgs, or exact, x (1 + erf(x / sqrt(2))) / 2.
struct GeluArgs {
  static constexpr const char* kName = "gelu";
  Tensor x;  // f32 [T, F], rows strided
  bool is_exact = false;
};

}  // namespace pagoda::device

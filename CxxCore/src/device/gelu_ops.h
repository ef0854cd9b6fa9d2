// GeluOps: what Gemma needs beside the operations of every device. A device has them when its encoder is one (see
// gelu_ops()).
#pragma once

#include "device/device.h"

namespace pagoda::device {

// out[t][i] = gelu(x[t][i]) * x[t][F + i] with gelu by tanh: g / (1 + exp(-2 sqrt(2 / pi) (g + 0.044715 g^3))). out may
// be the first half of x.
struct GeluMulArgs {
  Tensor x;    // f32 [T, 2 F]
  Tensor out;  // f32 [T, F], rows strided
};

// x = x * factor
struct ScaleRowsArgs {
  Tensor x;  // f32 [T, H], rows strided
  float factor = 1.0f;
};

class GeluOps {
 public:
  virtual ~GeluOps() = default;
  virtual void gelu_mul(const GeluMulArgs&) noexcept = 0;
  virtual void scale_rows(const ScaleRowsArgs&) noexcept = 0;
};

// Null on devices without them.
inline GeluOps* gelu_ops(Encoder& encoder) noexcept { return dynamic_cast<GeluOps*>(&encoder); }

}  // namespace pagoda::device

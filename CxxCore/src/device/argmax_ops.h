// ArgmaxOps: the highest logits found where they are. A device has it when its encoder is one (see argmax_ops()):
// devices whose memory is far from the host. On a CPU the sampler looks at the logits itself.
#pragma once

#include "device/device.h"

namespace pagoda::device {

// tokens[r] = the lowest id among the highest of row r, -1 where the sampler refuses the row: it holds NaN or plus
// infinity, or nothing above minus infinity. Zeros of either sign are equal.
struct ArgmaxArgs {
  Tensor logits;  // f32 [R, vocab]
  Tensor tokens;  // i32 [R]
};

class ArgmaxOps {
 public:
  virtual ~ArgmaxOps() = default;
  virtual void argmax(const ArgmaxArgs&) noexcept = 0;
};

// Null on devices without it.
inline ArgmaxOps* argmax_ops(Encoder& encoder) noexcept { return dynamic_cast<ArgmaxOps*>(&encoder); }

}  // namespace pagoda::device

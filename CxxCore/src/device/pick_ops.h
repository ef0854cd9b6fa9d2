// PickOps: tokens picked where the logits are. A device has it when its encoder is one (see pick_ops()): devices whose
// memory is far from the host. On a CPU the sampler looks at the logits itself.
#pragma once

#include "device/device.h"

namespace pagoda::device {

// tokens[r] = the lowest id among the highest of row r, -1 where the sampler refuses the row: it holds NaN or plus
// infinity, or nothing above minus infinity. Zeros of either sign are equal.
struct ArgmaxArgs {
  Tensor logits;  // f32 [R, vocab]
  Tensor tokens;  // i32 [R]
};

// How one row's token is drawn: sampler::Draw, as it lies in device memory.
struct Draw {
  uint64_t top_p = 0;       // in 2^-64
  uint64_t min_weight = 0;  // in 2^-40 of the most likely token's
  uint64_t random = 0;
  float temperature = 1.0f;
  uint32_t top_k = 0;  // 0: nobody asks for this row's token
};
static_assert(sizeof(Draw) == 32);

// tokens[r] = what the sampler draws from row r; -1 where nobody asks or the sampler refuses the row.
struct SampleArgs {
  Tensor logits;  // f32 [R, vocab]
  Tensor draws;   // i64 [R, 4]: a Draw each, with top_k up to max_top_k(vocab)
  Tensor tokens;  // i32 [R]
};

// Of a row, parts are searched side by side, and what they found together: both look at no more than this.
constexpr int64_t kSamplePart = 4096;

constexpr int64_t max_top_k(int64_t vocab) noexcept {
  const int64_t parts = (vocab + kSamplePart - 1) / kSamplePart;
  return parts <= kSamplePart / 64 ? 64 : kSamplePart / parts;
}

class PickOps {
 public:
  virtual ~PickOps() = default;
  virtual void argmax(const ArgmaxArgs&) noexcept = 0;
  virtual void sample(const SampleArgs&) noexcept = 0;
};

// Null on devices without it.
inline PickOps* pick_ops(Encoder& encoder) noexcept { return dynamic_cast<PickOps*>(&encoder); }

}  // namespace pagoda::device

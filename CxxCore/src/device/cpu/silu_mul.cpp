// silu_mul: a task per piece of a row.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <algorithm>

namespace pagoda::device::cpu {

using host::at;

void silu_mul(const Context& context, const SiluMulArgs& args) noexcept {
  constexpr int64_t kPieceWidth = 2048;
  const int64_t width = args.gate.shape[1], pieces = (width + kPieceWidth - 1) / kPieceWidth;
  context.for_each(args.gate.shape[0] * pieces, 4 * std::min(width, kPieceWidth), [&](int64_t index, int) {
    const int64_t t = index / pieces, begin = index % pieces * kPieceWidth,
                  count = std::min(kPieceWidth, width - begin);
    context.kernels->silu_mul(at<float>(args.gate, t) + begin, at<float>(args.up, t) + begin, count,
                              at<float>(args.out, t) + begin);
  });
}

}  // namespace pagoda::device::cpu

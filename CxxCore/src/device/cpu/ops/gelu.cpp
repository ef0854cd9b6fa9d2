// gelu_mul and scale_rows: a token at a time.
#include <algorithm>

#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void run(const Context& context, const GeluMulArgs& args) noexcept {
  constexpr int64_t kPart = 256;
  constexpr float kSlope = 1.5957691216057308f, kCubic = 0.044715f;  // 2 sqrt(2 / pi)
  const int64_t width = args.out.shape[1];
  context.for_each(args.out.shape[0], 16 * width, [&](int64_t t, int) {
    const float* gate = at<float>(args.x, t);
    const float* up = gate + width;
    float* out = at<float>(args.out, t);
    for (int64_t begin = 0; begin < width; begin += kPart) {
      const int64_t count = std::min(kPart, width - begin);
      float inner[kPart], activated[kPart];
      for (int64_t i = 0; i < count; ++i) {
        const float g = gate[begin + i];
        inner[i] = kSlope * (g + kCubic * g * g * g);
      }
      context.kernels->sigmoid_gate(gate + begin, inner, count, activated);
      for (int64_t i = 0; i < count; ++i) out[begin + i] = activated[i] * up[begin + i];
    }
  });
}

void run(const Context& context, const ScaleRowsArgs& args) noexcept {
  context.for_each(args.x.shape[0], args.x.shape[1], [&](int64_t t, int) {
    float* x = at<float>(args.x, t);
    for (int64_t i = 0; i < args.x.shape[1]; ++i) x[i] *= args.factor;
  });
}

}  // namespace pagoda::device::cpu

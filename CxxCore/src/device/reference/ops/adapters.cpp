// add_adapters and silu_mul, in double precision.
#include "device/host/adapter_rows.h"
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const AdapterArgs& args) noexcept {
  const int64_t cols = args.x.shape[1];
  for (int64_t row = 0; row < args.out.shape[0]; ++row)
    for (int64_t part = 0; part < args.table.shape[2]; ++part) {
      const host::AdapterPart m = host::adapter_part(args, row, part);
      for (int64_t n = 0; n < args.count[part] && m.rank > 0; ++n) {
        double sum = 0;
        for (int64_t r = 0; r < m.rank; ++r) {
          double inner = 0;
          for (int64_t k = 0; k < cols; ++k) inner += static_cast<double>(m.a[r * cols + k]) * m.x[k];
          sum += inner * m.b[r * args.count[part] + n];
        }
        float& out = at<float>(args.out, row)[args.first[part] + n];
        out = static_cast<float>(out + sum);
      }
    }
}

void run(const SiluMulArgs& args) noexcept {
  const int64_t width = args.out.shape[1];
  for (int64_t t = 0; t < args.out.shape[0]; ++t)
    for (int64_t i = 0; i < width; ++i) {
      const float gate = at<float>(args.x, t)[i], up = at<float>(args.x, t)[width + i];
      at<float>(args.out, t)[i] = static_cast<float>(silu(gate) * up);
    }
}

}  // namespace pagoda::device::reference

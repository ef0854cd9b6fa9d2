// expert_matmul: multiplies each row on its own.
#include "device/host/host_weight.h"
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const ExpertMatmulArgs& args) noexcept {
  const auto& weight = static_cast<const host::HostWeight&>(*args.weight);
  const int64_t k = args.ids.shape[1], slots = args.ids.shape[0] * k, width = args.out.shape[1];
  const int64_t rows_per_expert = weight.rows() / args.num_experts;
  for (int64_t slot = 0; slot < slots; ++slot) {
    const float* x = at<float>(args.x, args.x.shape[0] == slots ? slot : slot / k);
    const int64_t first = at<int32_t>(args.ids, slot / k)[slot % k] * rows_per_expert;
    const auto product = [&](int64_t row) {
      double sum = 0;
      for (int64_t i = 0; i < weight.cols(); ++i)
        sum += static_cast<double>(x[i]) * load(weight.row(row), weight.dtype(), i);
      return sum;
    };
    for (int64_t n = 0; n < width; ++n) {
      const float value = static_cast<float>(product(first + n));
      at<float>(args.out, slot)[n] =
          args.silu_mul ? static_cast<float>(silu(value) * static_cast<float>(product(first + width + n))) : value;
    }
  }
}

}  // namespace pagoda::device::reference

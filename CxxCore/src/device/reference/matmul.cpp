// matmul: out = x W^T + bias.
#include "device/host/host_weight.h"
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void matmul(const MatmulArgs& args) noexcept {
  const auto& weight = static_cast<const host::HostWeight&>(*args.weight);
  for (int64_t m = 0; m < args.x.shape[0]; ++m) {
    const float* x = at<float>(args.x, m);
    for (int64_t n = 0; n < weight.rows(); ++n) {
      double sum = args.bias.is_present() ? host_data<float>(args.bias)[n] : 0.0;
      for (int64_t k = 0; k < weight.cols(); ++k)
        sum += static_cast<double>(x[k]) * load(weight.row(n), weight.dtype(), k);
      at<float>(args.out, m)[n] = static_cast<float>(sum);
    }
  }
}

}  // namespace pagoda::device::reference

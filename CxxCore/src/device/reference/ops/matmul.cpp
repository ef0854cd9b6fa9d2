// matmul: out = x W^T + bias, or silu of its first half times its second half, both rounded as by a silu_mul of its
// own.
#include "device/host/host_weight.h"
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {
namespace {

double product(const MatmulArgs& args, int64_t m, int64_t n) noexcept {
  const auto& weight = static_cast<const host::HostWeight&>(*args.weight);
  const float* x = at<float>(args.x, m);
  double sum = args.bias.is_present() ? host_data<float>(args.bias)[n] : 0.0;
  for (int64_t k = 0; k < weight.cols(); ++k) sum += static_cast<double>(x[k]) * load(weight.row(n), weight.dtype(), k);
  return sum;
}

}  // namespace

void run(const MatmulArgs& args) noexcept {
  const int64_t width = args.out.shape[1];
  for (int64_t m = 0; m < args.x.shape[0]; ++m)
    for (int64_t n = 0; n < width; ++n) {
      const float value = static_cast<float>(product(args, m, n));
      at<float>(args.out, m)[n] =
          args.silu_mul ? static_cast<float>(silu(value) * static_cast<float>(product(args, m, n + width))) : value;
    }
}

}  // namespace pagoda::device::reference

// combine_experts: the weighted sum of a token's experts, plus the shared expert if there is one.
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const CombineExpertsArgs& args) noexcept {
  const int64_t k = args.weights.shape[1];
  for (int64_t t = 0; t < args.out.shape[0]; ++t)
    for (int64_t i = 0; i < args.out.shape[1]; ++i) {
      double sum = 0;
      const double gate = args.gate.is_present() ? sigmoid(at<float>(args.gate, t)[0]) : 1.0;
      if (args.shared.is_present()) sum = gate * at<float>(args.shared, t)[i];
      for (int64_t j = 0; j < k; ++j)
        sum += static_cast<double>(at<float>(args.weights, t)[j]) * at<float>(args.x, t * k + j)[i];
      at<float>(args.out, t)[i] = static_cast<float>(sum);
    }
}

}  // namespace pagoda::device::reference

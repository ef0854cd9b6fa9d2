// causal_conv1d: a short window over time per channel, then SiLU; the ring `tail` carries the window between steps.
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

#include <algorithm>

namespace pagoda::device::reference {
namespace {

// position: of row `begin`.
void run_channel(const CausalConv1dArgs& args, int64_t begin, int64_t end, int64_t position, int64_t slot,
                 int64_t channel) noexcept {
  const int64_t kernel = args.weight.shape[0], ring = args.tail.shape[1];
  const auto past = [&](int64_t p) -> float& { return at<float>(args.tail, slot, (p + ring) % ring)[channel]; };
  float window[kMaxConvKernel];  // the last `kernel` inputs, oldest first
  for (int64_t i = 0; i + 1 < kernel; ++i) window[i + 1] = past(position + i + 1 - kernel);
  for (int64_t t = begin; t < end; ++t) {
    for (int64_t i = 0; i + 1 < kernel; ++i) window[i] = window[i + 1];
    window[kernel - 1] = at<float>(args.x, t)[channel];
    double sum = 0;
    for (int64_t i = 0; i < kernel; ++i) sum += static_cast<double>(window[i]) * at<float>(args.weight, i)[channel];
    at<float>(args.out, t)[channel] = static_cast<float>(silu(sum));
  }
  for (int64_t t = std::max(begin, end - ring); t < end; ++t)
    past(position + t - begin) = at<float>(args.x, t)[channel];
}

}  // namespace

void run(const CausalConv1dArgs& args) noexcept {
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens);
  const int32_t* contexts = host_data<int32_t>(args.sequences.context_lens);
  for (int64_t b = 0; b < args.sequences.context_lens.shape[0]; ++b)
    for (int64_t c = 0; c < args.x.shape[1]; ++c)
      run_channel(args, bounds[b], bounds[b + 1], contexts[b] - (bounds[b + 1] - bounds[b]),
                  host_data<int32_t>(args.sequences.state_slots)[b], c);
}

}  // namespace pagoda::device::reference

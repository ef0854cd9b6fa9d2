// gdn: a task per sequence and K head: it writes the key rows its V heads share, so no other task may.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <algorithm>
#include <cmath>

namespace pagoda::device::cpu {

using host::at;

namespace {

struct Gates {
  float g[kGdnBlock], beta[kGdnBlock];  // of the rows of one call
};

Gates make_gates(const GdnArgs& args, int64_t first, int64_t rows, int64_t v_head) noexcept {
  const float rate = -std::exp(host_data<float>(args.a_log)[v_head]), bias = host_data<float>(args.dt_bias)[v_head];
  Gates gates;
  for (int64_t r = 0; r < rows; ++r) {
    const float x = at<float>(args.a, first + r)[v_head] + bias;
    gates.g[r] = rate * (x > 20.0f ? x : std::log1p(std::exp(x)));
    gates.beta[r] = 1.0f / (1.0f + std::exp(-at<float>(args.b, first + r)[v_head]));
  }
  return gates;
}

// Rows [t, t + rows) of the step, which lie in one block from `first_row` on.
void run_rows(const Context& context, const GdnArgs& args, int64_t slot, int64_t k_head, int64_t t, int64_t rows,
              int64_t first_row, float* scratch) noexcept {
  alignas(64) float kk[kGdnBlock * kGdnBlock], kq[kGdnBlock * kGdnBlock];
  const GdnKeys keys{at<float>(args.q, t, k_head),
                     at<float>(args.k, t, k_head),
                     args.q.strides[0],
                     args.k.strides[0],
                     first_row,
                     rows,
                     args.q.shape[2],
                     at<float>(args.k_rows, slot, k_head),
                     scratch,
                     kk,
                     kq};
  context.kernels->gdn_keys(keys);
  const int64_t group = args.v.shape[1] / args.q.shape[1];
  for (int64_t h = k_head * group; h < (k_head + 1) * group; ++h) {
    const Gates gates = make_gates(args, t, rows, h);
    context.kernels->gdn_head({&keys, at<float>(args.v, t, h), args.v.strides[0], at<float>(args.out, t, h),
                               args.out.strides[0], gates.g, gates.beta, args.v.shape[2],
                               at<float>(args.state, slot, h), at<float>(args.u_rows, slot, h),
                               at<float>(args.g_rows, slot, h), scratch + kGdnBlock * kMaxHeadDim});
  }
}

}  // namespace

void gdn(const Context& context, const GdnArgs& args) noexcept {
  const int64_t k_heads = args.q.shape[1], num_sequences = args.sequences.context_lens.shape[0];
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens);
  const int64_t state_size = args.v.shape[1] / k_heads * args.q.shape[2] * args.v.shape[2];
  context.for_each(num_sequences * k_heads, state_size, [&](int64_t index, int thread) {
    const int64_t b = index / k_heads, end = bounds[b + 1];
    int64_t position = host_data<int32_t>(args.sequences.context_lens)[b] - (end - bounds[b]);
    for (int64_t t = bounds[b], rows; t < end; t += rows, position += rows) {
      const int64_t first_row = position % kGdnBlock;
      rows = std::min(end - t, kGdnBlock - first_row);
      run_rows(context, args, host_data<int32_t>(args.sequences.state_slots)[b], index % k_heads, t, rows, first_row,
               context.scratch_of(thread));
    }
  });
}

}  // namespace pagoda::device::cpu

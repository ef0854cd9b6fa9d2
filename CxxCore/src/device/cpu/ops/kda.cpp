// kda: a task per sequence and head.
#include "device/cpu/cpu_ops.h"

#include <algorithm>
#include <cmath>

#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

static_assert(kKdaScratch <= kTaskScratch, "fits in a task's scratch memory");

// Processes all rows of a sequence for one head.
void run_head(const Context& context, const KdaArgs& args, int64_t b, int64_t head, float* scratch) noexcept {
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens);
  const int64_t slot = host_data<int32_t>(args.sequences.state_slots)[b], end = bounds[b + 1];
  int64_t position = host_data<int32_t>(args.sequences.context_lens)[b] - (end - bounds[b]);
  float beta[kGdnBlock];
  KdaHead h{.q_stride = args.q.strides[0],
            .k_stride = args.k.strides[0],
            .v_stride = args.v.strides[0],
            .a_stride = args.a.strides[0],
            .out_stride = args.out.strides[0],
            .dk = args.q.shape[2],
            .dv = args.v.shape[2],
            .rate = -std::exp(host_data<float>(args.a_log)[head]),
            .bias = at<float>(args.dt_bias, head),
            .beta = beta,
            .state = at<float>(args.state, slot, head),
            .k_rows = at<float>(args.k_rows, slot, head),
            .u_rows = at<float>(args.u_rows, slot, head),
            .g_rows = at<float>(args.g_rows, slot, head),
            .scratch = scratch};
  for (int64_t t = bounds[b]; t < end; t += h.rows, position += h.rows) {
    h.first_row = position % kGdnBlock;
    h.rows = std::min(end - t, kGdnBlock - h.first_row);
    h.q = at<float>(args.q, t, head);
    h.k = at<float>(args.k, t, head);
    h.v = at<float>(args.v, t, head);
    h.a = at<float>(args.a, t, head);
    h.out = at<float>(args.out, t, head);
    for (int64_t r = 0; r < h.rows; ++r) beta[r] = 1.0f / (1.0f + std::exp(-at<float>(args.b, t + r)[head]));
    context.kernels->kda_head(h);
  }
}

}  // namespace

void run(const Context& context, const KdaArgs& args) noexcept {
  const int64_t heads = args.q.shape[1], num_sequences = args.sequences.context_lens.shape[0];
  context.for_each(num_sequences * heads, args.q.shape[2] * args.v.shape[2], [&](int64_t index, int thread) {
    run_head(context, args, index / heads, index % heads, context.scratch_of(thread));
  });
}

}  // namespace pagoda::device::cpu

// gdn: a task per sequence and K head; it writes the key rows that its V heads share, so the heads cannot be separate
// tasks. A fused convolution runs per block of rows, whose results are then still in L1.
#include "device/cpu/cpu_ops.h"
#include "device/cpu/flush_denormals.h"
#include "device/cpu/ops/conv_channels.h"
#include "device/host/access.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pagoda::device::cpu {

using host::at;

namespace {

struct Gates {
  float g[kGdnBlock], beta[kGdnBlock];  // for the rows of one call
};

Gates make_gates(const GdnArgs& args, int64_t first, int64_t rows, int64_t v_head) noexcept {
  const float rate = -std::exp(host_data<float>(args.a_log)[v_head]), bias = host_data<float>(args.dt_bias)[v_head];
  Gates gates;
  for (int64_t r = 0; r < rows; ++r) {
    const float x = at<float>(args.a, first + r)[v_head] + bias;
    gates.g[r] = rate * (x > 20.0f ? x : std::log1p(std::exp(x)));
    gates.beta[r] = args.beta_scale / (1.0f + std::exp(-at<float>(args.b, first + r)[v_head]));
  }
  return gates;
}

// Addresses of q, k and v of a K head and its V heads, for some rows.
struct HeadInputs {
  const float *q, *k, *v;  // v: of the first V head; the others follow at stride Dv
  int64_t q_stride, k_stride, v_stride, v_head_stride;
};

// Convolves exactly the channels that a K head and its V heads read.
class HeadConv {
 public:
  HeadConv(const CausalConv1dArgs& conv, const GdnArgs& args, int64_t sequence, int64_t k_head, int64_t group) noexcept
      : dk_(args.q.shape[2]),
        width_(group * args.v.shape[2]),
        dv_(args.v.shape[2]),
        q_(conv, sequence, channel(conv, args.q) + k_head * dk_, dk_),
        k_(conv, sequence, channel(conv, args.k) + k_head * dk_, dk_),
        v_(conv, sequence, channel(conv, args.v) + k_head * width_, width_) {}

  HeadInputs run(const Kernels& kernels, int64_t row, int64_t rows, float* to) const noexcept {
    float *k = to + kGdnBlock * kMaxHeadDim, *v = k + kGdnBlock * kMaxHeadDim;
    q_.run(kernels, row, rows, to, dk_);
    k_.run(kernels, row, rows, k, dk_);
    v_.run(kernels, row, rows, v, width_);
    return {to, k, v, dk_, dk_, width_, dv_};
  }
  void write_tail() const noexcept {
    for (const ConvChannels* part : {&q_, &k_, &v_}) part->write_tail();
  }

 private:
  static int64_t channel(const CausalConv1dArgs& conv, const Tensor& part) noexcept {
    return (part.offset_bytes - conv.out.offset_bytes) / static_cast<int64_t>(sizeof(float));
  }
  int64_t dk_, width_, dv_;
  ConvChannels q_, k_, v_;
};

struct HeadRows {
  int64_t slot, k_head, t, rows, first_row;  // rows [t, t + rows) of the step, in one block starting at first_row
};

void run_rows(const Context& context, const GdnArgs& args, const HeadRows& r, const HeadInputs& in,
              float* scratch) noexcept {
  alignas(64) float kk[kGdnBlock * kGdnBlock], kq[kGdnBlock * kGdnBlock];
  const int64_t group = args.v.shape[1] / args.q.shape[1];
  const GdnKeys keys{in.q,
                     in.k,
                     in.q_stride,
                     in.k_stride,
                     r.first_row,
                     r.rows,
                     args.q.shape[2],
                     at<float>(args.k_rows, r.slot, r.k_head),
                     scratch,
                     kk,
                     kq,
                     at<float>(args.state, r.slot, r.k_head * group),
                     args.v.shape[2]};
  context.kernels->gdn_keys(keys);
  for (int64_t i = 0, h = r.k_head * group; i < group; ++i, ++h) {
    const Gates gates = make_gates(args, r.t, r.rows, h);
    context.kernels->gdn_head({&keys, in.v + i * in.v_head_stride, in.v_stride, at<float>(args.out, r.t, h),
                               args.out.strides[0], gates.g, gates.beta, args.v.shape[2],
                               at<float>(args.state, r.slot, h), at<float>(args.u_rows, r.slot, h),
                               at<float>(args.g_rows, r.slot, h), scratch + kGdnBlock * kMaxHeadDim});
  }
}

// Processes all rows of a sequence for one K head. A head that forgets fast has weights and states that become
// denormal, and each operation on one takes 150 cycles: half of a short prompt's step of the embedded model.
void run_head(const Context& context, const GdnArgs& args, const CausalConv1dArgs* conv, int64_t b, int64_t k_head,
              int thread) noexcept {
  const FlushDenormals flush;
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens);
  const int64_t group = args.v.shape[1] / args.q.shape[1], end = bounds[b + 1];
  int64_t position = host_data<int32_t>(args.sequences.context_lens)[b] - (end - bounds[b]);
  float* scratch = context.scratch_of(thread);
  std::optional<HeadConv> head_conv;
  if (conv) head_conv.emplace(*conv, args, b, k_head, group);
  HeadRows r{host_data<int32_t>(args.sequences.state_slots)[b], k_head, bounds[b], 0, 0};
  for (; r.t < end; r.t += r.rows, position += r.rows) {
    r.first_row = position % kGdnBlock;
    r.rows = std::min(end - r.t, kGdnBlock - r.first_row);
    const HeadInputs in = conv ? head_conv->run(*context.kernels, r.t, r.rows, scratch + kGdnScratch)
                               : HeadInputs{at<float>(args.q, r.t, k_head),
                                            at<float>(args.k, r.t, k_head),
                                            at<float>(args.v, r.t, k_head * group),
                                            args.q.strides[0],
                                            args.k.strides[0],
                                            args.v.strides[0],
                                            args.v.strides[1]};
    run_rows(context, args, r, in, scratch);
  }
  if (conv) head_conv->write_tail();
}

}  // namespace

bool can_convolve_inside(const CausalConv1dArgs& conv, const GdnArgs& gdn) noexcept {
  const auto lies_in = [&](const Tensor& part) {
    const int64_t first = (part.offset_bytes - conv.out.offset_bytes) / static_cast<int64_t>(sizeof(float));
    return part.buffer == conv.out.buffer && first >= 0 && part.strides[0] == conv.out.strides[0] &&
           part.strides[1] == part.shape[2] && first + part.shape[1] * part.shape[2] <= conv.out.shape[1];
  };
  // The tails of channels that no head reads would not be updated.
  const int64_t read = 2 * gdn.q.shape[1] * gdn.q.shape[2] + gdn.v.shape[1] * gdn.v.shape[2];
  return lies_in(gdn.q) && lies_in(gdn.k) && lies_in(gdn.v) && read == conv.out.shape[1] &&
         gdn.q.shape[0] == conv.out.shape[0] && gdn.v.shape[1] / gdn.q.shape[1] <= kMaxConvVHeads;
}

void run(const Context& context, const GdnArgs& args, const CausalConv1dArgs* conv) noexcept {
  const int64_t k_heads = args.q.shape[1], num_sequences = args.sequences.context_lens.shape[0];
  const int64_t state_size = args.v.shape[1] / k_heads * args.q.shape[2] * args.v.shape[2];
  context.for_each(num_sequences * k_heads, state_size, [&](int64_t index, int thread) {
    run_head(context, args, conv, index / k_heads, index % k_heads, thread);
  });
}

}  // namespace pagoda::device::cpu

// causal_conv1d: one thread per channel and four rows, then one per channel of a tail; a single launch for single
// tokens.
#include "args/causal_conv1d.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

pagoda_args::CausalConv1d conv_args(const CausalConv1dArgs& a) noexcept {
  pagoda_args::CausalConv1d args{};
  args.x_stride = a.x.strides[0];
  args.out_stride = a.out.strides[0];
  args.weight_stride = a.weight.strides[0];
  args.tail_slot_stride = a.tail.strides[0];
  args.tail_row_stride = a.tail.strides[1];
  args.channels = as_uint(a.x.shape[1]);
  args.kernel_size = as_uint(a.weight.shape[0]);
  args.num_sequences = as_uint(a.sequences.context_lens.shape[0]);
  args.tail_rows = as_uint(a.tail.shape[1]);
  return args;
}

// The gdn that reads `out` fuses it if possible.
void GpuEncoder::record(const CausalConv1dArgs& a) noexcept {
  if (!accept(a, a.sequences.cu_seqlens)) return;
  if (is_waiting()) launch_waiting();
  conv_ = a;
}

void GpuEncoder::launch_conv(const CausalConv1dArgs& a) noexcept {
  const SequenceArgs& s = a.sequences;
  const pagoda_args::CausalConv1d args = conv_args(a);
  const uint32_t tokens = as_uint(a.x.shape[0]), num_sequences = args.num_sequences;
  const uint32_t groups = as_uint(ceil_divide(a.x.shape[1], 128));
  if (tokens == num_sequences) {
    launch(kernels::causal_conv1d_update::kernel, {{groups, tokens}},
           {a.x, a.weight, a.tail, s.context_lens, s.state_slots, a.out}, args);
    return;
  }
  constexpr int64_t kRows = 4;  // per thread
  launch(kernels::causal_conv1d::kernel, {{groups, as_uint(ceil_divide(a.x.shape[0], kRows))}},
         {a.x, a.weight, a.tail, s.cu_seqlens, s.context_lens, s.state_slots, a.out}, args);
  launch(kernels::causal_conv1d_tail::kernel, {{groups, num_sequences}},
         {a.x, a.tail, s.cu_seqlens, s.context_lens, s.state_slots}, args);
}

}  // namespace pagoda::device::gpu

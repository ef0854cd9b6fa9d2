// kda: one threadgroup per panel of 32 columns of a head, or one for all panels if a sequence has several tokens.
#include "args/kda.h"

#include <cmath>

#include "device/gpu/gpu_encoder.h"
#include "device/gpu/kernel_sizes.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const KdaArgs& a) noexcept {
  if (!check(check_gdn(a.q.shape[2])) || !accept(a, a.sequences.cu_seqlens)) return;
  pagoda_args::Kda args{};
  args.q_stride = a.q.strides[0];
  args.q_head_stride = a.q.strides[1];
  args.k_stride = a.k.strides[0];
  args.k_head_stride = a.k.strides[1];
  args.v_stride = a.v.strides[0];
  args.v_head_stride = a.v.strides[1];
  args.a_stride = a.a.strides[0];
  args.a_head_stride = a.a.strides[1];
  args.b_stride = a.b.strides[0];
  args.out_stride = a.out.strides[0];
  args.out_head_stride = a.out.strides[1];
  args.state_slot_stride = a.state.strides[0];
  args.k_rows_slot_stride = a.k_rows.strides[0];
  args.u_rows_slot_stride = a.u_rows.strides[0];
  args.g_rows_slot_stride = a.g_rows.strides[0];
  args.dk = as_uint(a.q.shape[2]);
  args.dv = as_uint(a.v.shape[2]);
  args.q_scale = 1.0f / std::sqrt(static_cast<float>(a.q.shape[2]));
  const SequenceArgs& s = a.sequences;
  const uint32_t panels = as_uint(ceil_divide(a.v.shape[2], kGdnPanel));
  launch(a.q.shape[2] <= 128 ? kernels::kda::k128 : kernels::kda::k256,
         {{panels, as_uint(a.q.shape[1]), as_uint(s.context_lens.shape[0])}},
         {a.q, a.k, a.v, a.a, a.b, a.a_log, a.dt_bias, s.cu_seqlens, s.context_lens, s.state_slots, a.state, a.k_rows,
          a.u_rows, a.g_rows, a.out},
         args);
}

}  // namespace pagoda::device::gpu

// gdn: one threadgroup per panel of 32 columns of a V-head, or of prompts per half panel if that makes too few. Single
// tokens take one launch, prompts take two.
#include "args/gdn.h"

#include <cmath>
#include <utility>

#include "base/concat.h"
#include "device/gpu/gpu_encoder.h"
#include "device/gpu/kernel_sizes.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kMaxGdnDim = 256;
constexpr int64_t kConvSequences = 4;  // each panel recomputes q and k: beyond this, a separate launch is cheaper
constexpr uint32_t kManyPanels = 160;  // whole panels take longer unless multiprocessors have several halves each

// Whether kernels may read the state and old keys as vectors.
bool is_wide(const GdnArgs& a) noexcept {
  const int64_t dk = a.q.shape[2];
  const bool is_aligned =
      (a.state.strides[0] | a.k_rows.strides[0]) % 4 == 0 && (a.state.offset_bytes | a.k_rows.offset_bytes) % 16 == 0;
  return (dk == 128 || dk == 256) && a.v.shape[2] % kGdnPanel == 0 && is_aligned;
}

pagoda_args::Gdn args_of(const GdnArgs& a) noexcept {
  pagoda_args::Gdn args{};
  args.q_stride = a.q.strides[0];
  args.q_head_stride = a.q.strides[1];
  args.k_stride = a.k.strides[0];
  args.k_head_stride = a.k.strides[1];
  args.v_stride = a.v.strides[0];
  args.v_head_stride = a.v.strides[1];
  args.a_stride = a.a.strides[0];
  args.b_stride = a.b.strides[0];
  args.out_stride = a.out.strides[0];
  args.out_head_stride = a.out.strides[1];
  args.state_slot_stride = a.state.strides[0];
  args.k_rows_slot_stride = a.k_rows.strides[0];
  args.u_rows_slot_stride = a.u_rows.strides[0];
  args.g_rows_slot_stride = a.g_rows.strides[0];
  args.num_sequences = as_uint(a.sequences.context_lens.shape[0]);
  args.k_heads = as_uint(a.q.shape[1]);
  args.v_heads = as_uint(a.v.shape[1]);
  args.dk = as_uint(a.q.shape[2]);
  args.dv = as_uint(a.v.shape[2]);
  args.is_wide = is_wide(a);
  args.conv.tail_rows = 1;  // kernels divide by it
  args.q_scale = 1.0f / std::sqrt(static_cast<float>(a.q.shape[2]));
  args.beta_scale = a.beta_scale;
  return args;
}

// The channel of a convolution's output at which `t` starts.
int64_t channel_of(const Tensor& out, const Tensor& t) noexcept {
  return (t.offset_bytes - out.offset_bytes) / static_cast<int64_t>(sizeof(float));
}

// Whether the channels of `t` are consecutive heads in `out`, row by row.
bool is_part_of(const Tensor& out, const Tensor& t) noexcept {
  const int64_t first = channel_of(out, t);
  return t.buffer == out.buffer && t.shape[0] == out.shape[0] && t.strides[0] == out.strides[0] &&
         t.strides[1] == t.shape[2] && first >= 0 && first + t.shape[1] * t.shape[2] <= out.shape[1];
}

// Whether one launch can fuse both: single tokens, and a ring that still holds their past while they are written to it.
bool is_made_by(const CausalConv1dArgs& conv, const GdnArgs& a) noexcept {
  return conv.x.shape[0] == conv.sequences.context_lens.shape[0] && conv.x.shape[0] <= kConvSequences &&
         conv.tail.shape[1] >= conv.weight.shape[0] && is_part_of(conv.out, a.q) && is_part_of(conv.out, a.k) &&
         is_part_of(conv.out, a.v) && is_same_view(conv.sequences.context_lens, a.sequences.context_lens) &&
         is_same_view(conv.sequences.state_slots, a.sequences.state_slots);
}

}  // namespace

Status check_gdn(int64_t k_dim) noexcept {
  if (k_dim <= kMaxGdnDim) return ok_status();
  return make_error(StatusCode::unsupported,
                    concat("GPU kernels have Gated DeltaNet keys of up to 256 dims, not ", k_dim));
}

// Single tokens, with the convolution that computes q, k and v.
void GpuEncoder::conv_and_gdn(const CausalConv1dArgs& conv, const GdnArgs& a, pagoda_args::Gdn args) noexcept {
  const SequenceArgs& s = a.sequences;
  args.conv = conv_args(conv);
  args.q_channel = as_uint(channel_of(conv.out, a.q));
  args.k_channel = as_uint(channel_of(conv.out, a.k));
  args.v_channel = as_uint(channel_of(conv.out, a.v));
  namespace decode = kernels::gdn_decode;
  launch(of_state(a.state, decode::conv_f32_128, decode::conv_f32_256, decode::conv_bf16_128, decode::conv_bf16_256),
         {{as_uint(ceil_divide(a.v.shape[2], kGdnPanel)), args.v_heads, args.num_sequences}},
         {a.q, a.k, a.v, a.a, a.b, a.a_log, a.dt_bias, s.cu_seqlens, s.context_lens, s.state_slots, a.state, a.k_rows,
          a.u_rows, a.g_rows, a.out, conv.x, conv.weight, conv.tail},
         args);
}

void GpuEncoder::record(const GdnArgs& a) noexcept {
  const SequenceArgs& s = a.sequences;
  const int64_t tokens = a.q.shape[0], num_sequences = s.context_lens.shape[0], dk = a.q.shape[2];
  if (!check(check_gdn(dk)) || !accept(a, s.cu_seqlens) ||
      !check_scratch(ScratchSizes::gdn(tokens, num_sequences, a.q.shape[1], a.v.shape[1], dk), "gdn"))
    return;
  namespace decode = kernels::gdn_decode;
  namespace prefill = kernels::gdn_prefill;
  const pagoda_args::Gdn args = args_of(a);
  if (conv_ && is_made_by(*conv_, a)) return conv_and_gdn(*std::exchange(conv_, std::nullopt), a, args);
  if (is_waiting()) launch_waiting();
  const Grid panels{{as_uint(ceil_divide(a.v.shape[2], kGdnPanel)), args.v_heads, args.num_sequences}};
  if (tokens == num_sequences || num_sequences > 1)
    launch(of_state(a.state, decode::f32_128, decode::f32_256, decode::bf16_128, decode::bf16_256), panels,
           {a.q, a.k, a.v, a.a, a.b, a.a_log, a.dt_bias, s.cu_seqlens, s.context_lens, s.state_slots, a.state, a.k_rows,
            a.u_rows, a.g_rows, a.out, a.q, a.q, a.out},
           args);
  if (tokens == num_sequences) return;
  launch(dk <= 128 ? kernels::gdn_prepare::k128 : kernels::gdn_prepare::k256,
         {{as_uint(tokens / kGdnBlock + 2 * num_sequences), args.k_heads}},
         {a.q, a.k, a.a, a.b, a.a_log, a.dt_bias, s.cu_seqlens, s.context_lens, s.state_slots, a.k_rows, a.g_rows,
          scratch_.gdn_rows, scratch_.gdn_gates},
         args);
  const bool is_whole = dk <= 128 && panels.groups.x * panels.groups.y * panels.groups.z >= kManyPanels;
  const Grid halves{{as_uint(ceil_divide(a.v.shape[2], kGdnPanel / 2)), args.v_heads, args.num_sequences}};
  launch(is_whole ? of_state(a.state, prefill::f32_128_2, prefill::f32_128_2, prefill::bf16_128_2, prefill::bf16_128_2)
                  : of_state(a.state, prefill::f32_128_1, prefill::f32_256_1, prefill::bf16_128_1, prefill::bf16_256_1),
         is_whole ? panels : halves,
         {a.v, s.cu_seqlens, s.context_lens, s.state_slots, scratch_.gdn_rows, scratch_.gdn_gates, a.state, a.k_rows,
          a.u_rows, a.g_rows, a.out},
         args);
}

}  // namespace pagoda::device::gpu

// Ops with recurrent state per sequence: causal_conv1d, gdn.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status causal_conv1d(device::Encoder& encoder, const device::CausalConv1dArgs& args) noexcept {
  Check check(args.kName);
  check_convolution(check, args.x, args.weight, /*dilation=*/1, args.tail, args.sequences, args.out);
  return encode(check, encoder, args);
}

Status gdn(device::Encoder& encoder, const device::GdnArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("q", args.q, DType::f32, {kAny, kAny, kAny})
      .tensor("v", args.v, DType::f32, {args.q.shape[0], kAny, kAny});
  if (!check.is_ok()) return check.status();
  const int64_t rows = args.q.shape[0], k_heads = args.q.shape[1], k_dim = args.q.shape[2];
  const int64_t v_heads = args.v.shape[1], v_dim = args.v.shape[2];
  check.that(k_heads > 0 && v_heads % k_heads == 0, "v", "has heads that are no multiple of the K heads")
      .that(k_dim > 0 && k_dim <= device::kMaxHeadDim, "q", "has a head dim outside 1 to 512")
      .that(v_dim > 0 && v_dim <= device::kMaxHeadDim, "v", "has a head dim outside 1 to 512")
      .tensor("k", args.k, DType::f32, {rows, k_heads, k_dim})
      .tensor("a", args.a, DType::f32, {rows, v_heads})
      .tensor("b", args.b, DType::f32, {rows, v_heads})
      .tensor("a_log", args.a_log, DType::f32, {v_heads})
      .tensor("dt_bias", args.dt_bias, DType::f32, {v_heads})
      .pool("state", args.state, DType::f32, {kAny, v_heads, k_dim, v_dim});
  const int64_t slots = args.state.shape[0];
  check.pool("k_rows", args.k_rows, DType::f32, {slots, k_heads, device::kGdnBlock, k_dim})
      .pool("u_rows", args.u_rows, DType::f32, {slots, v_heads, device::kGdnBlock, v_dim})
      .pool("g_rows", args.g_rows, DType::f32, {slots, v_heads, device::kGdnBlock})
      .tensor("out", args.out, DType::f32, {rows, v_heads, v_dim});
  check_sequences(check, args.sequences, /*wants_blocks=*/false, /*wants_slots=*/true);
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops

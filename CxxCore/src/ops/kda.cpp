// Argument checks of kda.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status kda(device::Encoder& encoder, const device::KdaArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("q", args.q, DType::f32, {kAny, kAny, kAny})
      .tensor("v", args.v, DType::f32, {args.q.shape[0], args.q.shape[1], kAny});
  if (!check.is_ok()) return check.status();
  const int64_t rows = args.q.shape[0], heads = args.q.shape[1], k_dim = args.q.shape[2], v_dim = args.v.shape[2];
  check.that(k_dim > 0 && k_dim <= device::kMaxHeadDim, "q", "has a head dim outside 1 to 512")
      .that(v_dim > 0 && v_dim <= device::kMaxHeadDim, "v", "has a head dim outside 1 to 512")
      .tensor("k", args.k, DType::f32, {rows, heads, k_dim})
      .tensor("a", args.a, DType::f32, {rows, heads, k_dim})
      .tensor("b", args.b, DType::f32, {rows, heads})
      .tensor("a_log", args.a_log, DType::f32, {heads})
      .tensor("dt_bias", args.dt_bias, DType::f32, {heads, k_dim})
      .pool("state", args.state, DType::f32, {kAny, heads, k_dim, v_dim});
  const int64_t slots = args.state.shape[0];
  check.pool("k_rows", args.k_rows, DType::f32, {slots, heads, device::kGdnBlock, k_dim})
      .pool("u_rows", args.u_rows, DType::f32, {slots, heads, device::kGdnBlock, v_dim})
      .pool("g_rows", args.g_rows, DType::f32, {slots, heads, device::kGdnBlock, k_dim})
      .tensor("out", args.out, DType::f32, {rows, heads, v_dim});
  check_sequences(check, args.sequences, /*wants_blocks=*/false, /*wants_slots=*/true);
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops

// Checks of add_adapters and silu_mul.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

using device::kAdapterFields;
using device::kMaxAdapterParts;
using device::kMaxAdapterRank;

Status add_adapters(device::Encoder& encoder, const device::AdapterArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("slots", args.slots, DType::i32, {kAny});
  const int64_t tokens = args.slots.shape[0], rows = args.out.shape[0];
  const int64_t per_token = args.experts.is_present() ? args.experts.shape[1] : 1;
  check.tensor("out", args.out, DType::f32, {tokens * per_token, kAny})
      .tensor("x", args.x, DType::f32, {kAny, kAny})
      .that(args.x.shape[0] == tokens || args.x.shape[0] == rows, "x", "has a row per token, or per row of out")
      .optional("experts", args.experts, DType::i32, {tokens, kAny})
      .tensor("weights", args.weights, DType::f32, {kAny})
      .pool("table", args.table, DType::i64, {kAny, kAny, kAny, kAdapterFields})
      .that(args.table.shape[1] == 1 || args.experts.is_present(), "table", "has one matrix without experts")
      .that(args.table.shape[2] >= 1 && args.table.shape[2] <= kMaxAdapterParts, "table", "has 1 to 4 parts")
      .that(args.max_rank >= 0 && args.max_rank <= kMaxAdapterRank, "max_rank", "is at most 256")
      .tensor("inner", args.inner, DType::f32, {rows, args.table.shape[2] * kMaxAdapterRank});
  for (int64_t p = 0; check.is_ok() && p < args.table.shape[2]; ++p)
    check.that(args.first[p] >= 0 && args.count[p] >= 0 && args.first[p] + args.count[p] <= args.out.shape[1], "out",
               "has the columns of every part");
  return encode(check, encoder, args);
}

Status silu_mul(device::Encoder& encoder, const device::SiluMulArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("out", args.out, DType::f32, {kAny, kAny})
      .tensor("x", args.x, DType::f32, {args.out.shape[0], 2 * args.out.shape[1]});
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops

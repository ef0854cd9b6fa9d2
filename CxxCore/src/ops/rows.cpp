// Ops that move or multiply whole rows: embedding, gather_rows, matmul, zero_slots, copy_slot.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status embedding(device::Encoder& encoder, const device::EmbeddingArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("out", args.out, DType::f32, {kAny, kAny})
      .tensor("ids", args.ids, DType::i32, {args.out.shape[0]})
      .weight("table", args.table, kAny, args.out.shape[1]);
  return encode(check, encoder, args);
}

Status gather_rows(device::Encoder& encoder, const device::GatherRowsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny})
      .tensor("rows", args.rows, DType::i32, {kAny})
      .tensor("out", args.out, DType::f32, {args.rows.shape[0], args.x.shape[1]});
  return encode(check, encoder, args);
}

Status matmul(device::Encoder& encoder, const device::MatmulArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny}).weight("weight", args.weight, kAny, args.x.shape[1]);
  if (!check.is_ok()) return check.status();
  const int64_t whole = args.weight->rows(), wanted = args.out.rank == 2 ? args.out.shape[1] : 0;
  const bool is_cut = args.takes_first_rows && !args.silu_mul && wanted > 0 && wanted < whole;
  const int64_t rows = is_cut ? wanted : whole;
  check.that(!args.silu_mul || rows % 2 == 0, "weight", "has an odd number of rows and no two halves");
  check.optional("bias", args.bias, DType::f32, {rows})
      .tensor("out", args.out, DType::f32, {args.x.shape[0], args.silu_mul ? rows / 2 : rows});
  return encode(check, encoder, args);
}

static void check_pool(Check& check, const device::Tensor& pool) {
  check.that(pool.rank >= 1 && pool.rank <= device::kMaxRank, "pool", "has no rank from 1 to 4");
  if (!check.is_ok()) return;
  const auto& n = pool.shape;  // any shape is allowed: the pool is compared with itself
  switch (pool.rank) {
    case 1: check.pool("pool", pool, pool.dtype, {n[0]}); break;
    case 2: check.pool("pool", pool, pool.dtype, {n[0], n[1]}); break;
    case 3: check.pool("pool", pool, pool.dtype, {n[0], n[1], n[2]}); break;
    default: check.pool("pool", pool, pool.dtype, {n[0], n[1], n[2], n[3]}); break;
  }
}

Status zero_slots(device::Encoder& encoder, const device::ZeroSlotsArgs& args) noexcept {
  Check check(args.kName);
  check_pool(check, args.pool);
  check.tensor("slots", args.slots, DType::i32, {kAny});
  return encode(check, encoder, args);
}

Status copy_slot(device::Encoder& encoder, const device::CopySlotArgs& args) noexcept {
  Check check(args.kName);
  check_pool(check, args.pool);
  check.that(args.from >= 0 && args.from < args.pool.shape[0], "from", "is no slot of the pool");
  check.that(args.to >= 0 && args.to < args.pool.shape[0], "to", "is no slot of the pool");
  if (args.from == args.to) return check.status();
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops

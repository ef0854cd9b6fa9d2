// The cost model of ops: it counts what the step's sequences need, not what the pools hold; and which ops a device has.
#include "device/op_cost.h"

#include <string>
#include <utility>

#include "device/cpu/profile.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;

namespace {

constexpr int64_t kHeads = 2, kDim = 8;

// One step of two sequences; every pool has `num_slots`.
device::GdnArgs delta_rule(Rig& rig, const Batch& batch, int64_t num_slots) {
  const int64_t rows = batch.num_rows();
  const auto heads = [&] { return rig.zeros(DType::f32, {rows, kHeads, kDim}); };
  return {.q = heads(),
          .k = heads(),
          .v = heads(),
          .a = rig.zeros(DType::f32, {rows, kHeads}),
          .b = rig.zeros(DType::f32, {rows, kHeads}),
          .a_log = rig.zeros(DType::f32, {kHeads}),
          .dt_bias = rig.zeros(DType::f32, {kHeads}),
          .sequences = make_sequences(rig, batch, 16, 4),
          .state = rig.zeros(DType::f32, {num_slots, kHeads, kDim, kDim}),
          .k_rows = rig.zeros(DType::f32, {num_slots, kHeads, device::kGdnBlock, kDim}),
          .u_rows = rig.zeros(DType::f32, {num_slots, kHeads, device::kGdnBlock, kDim}),
          .g_rows = rig.zeros(DType::f32, {num_slots, kHeads, device::kGdnBlock}),
          .out = heads()};
}

double profiled_bytes(const device::GdnArgs& args) {
  device::cpu::Profile profile;
  profile.enable(true);
  {
    const auto timer = profile.start(args);
  }
  return profile.take().at(0).bytes;
}

}  // namespace

PAGODA_TEST(device_cost_of_gdn_is_of_the_sequences_and_not_of_the_slots) {
  Rig rig("reference");
  for (const Batch& batch : {Batch{{20, 5}, {1, 1}}, Batch{{0, 0}, {16, 16}}}) {
    const auto few = delta_rule(rig, batch, 3), many = delta_rule(rig, batch, 50);
    CHECK_EQ(device::op_cost(few).bytes, device::op_cost(many).bytes);
    CHECK_EQ(profiled_bytes(few), profiled_bytes(many));
    CHECK_EQ(profiled_bytes(few), device::op_cost(few).bytes);
    const double state = 4.0 * 2 * kHeads * kDim * kDim, block = 4.0 * 2 * 2 * kHeads * device::kGdnBlock * kDim;
    const double tokens = 4.0 * 4 * static_cast<double>(batch.num_rows() * kHeads * kDim);
    // A state is read once, and written once every 16 tokens.
    CHECK_EQ(device::op_cost(few).bytes, tokens + block + state * (1 + (batch.rows[0] == 16 ? 1 : 1.0 / 16)));
  }
}

PAGODA_TEST(device_cost_of_attention_counts_each_cached_row_once_in_any_layout) {
  Rig rig("reference");
  const Batch batch{{20, 4}, {1, 2}};  // 21 and 6 positions
  device::PagedAttentionArgs args{.q = rig.zeros(DType::f32, {3, kHeads, kDim}),
                                  .k_cache = rig.zeros(DType::bf16, {16, 16, kHeads, kDim}),
                                  .v_cache = rig.zeros(DType::bf16, {16, 16, kHeads, kDim}),
                                  .sequences = make_sequences(rig, batch, 16, 4),
                                  .out = rig.zeros(DType::f32, {3, kHeads, kDim})};
  const double rows = 2 * 4.0 * 3 * kHeads * kDim, position = 2 * 2.0 * kHeads * kDim;
  CHECK_EQ(device::op_cost(args).bytes, rows + 27 * position);
  CHECK_EQ(device::op_cost(args).operations, 4.0 * (21 + 5 + 6) * kHeads * kDim);
  args.k_cache.strides[1] = kDim, args.k_cache.strides[2] = 16 * kDim;  // as in the model's pools
  CHECK_EQ(device::op_cost(args).bytes, rows + 27 * position);
  args.is_causal = false;
  CHECK_EQ(device::op_cost(args).bytes, rows + 27 * position);
  CHECK_EQ(device::op_cost(args).operations, 4.0 * (21 + 2 * 6) * kHeads * kDim);
  args.is_causal = true;
  args.window = 4;
  CHECK_EQ(device::op_cost(args).bytes, rows + (4 + 5) * position);
  CHECK_EQ(device::op_cost(args).operations, 4.0 * (4 + 4 + 4) * kHeads * kDim);
}

PAGODA_TEST(device_cost_of_sparse_attention_is_of_one_row_per_block_and_of_the_chosen_blocks) {
  Rig rig("reference");
  const Batch batch{{40, 4}, {1, 1}};  // 41 and 5 positions
  const device::SelectBlocksArgs select{.q = rig.zeros(DType::f32, {2, 4, kDim}),
                                        .cache = rig.zeros(DType::f32, {16, 16, kDim}),
                                        .ratio = 2,
                                        .sequences = make_sequences(rig, batch, 16, 4),
                                        .out = rig.zeros(DType::i32, {2, 3})};
  CHECK_EQ(device::op_cost(select).bytes, 4.0 * 2 * 4 * kDim + 4 * 2 * 3 + 4.0 * 46 / 2 * kDim);
  CHECK_EQ(device::op_cost(select).operations, 2.0 * 46 / 2 * 4 * kDim);
  const device::BlockAttentionArgs attend{.q = rig.zeros(DType::f32, {2, kHeads, kDim}),
                                          .k_cache = rig.zeros(DType::bf16, {16, 16, kHeads, kDim}),
                                          .v_cache = rig.zeros(DType::bf16, {16, 16, kHeads, kDim}),
                                          .blocks = select.out,
                                          .ratio = 2,
                                          .sequences = select.sequences,
                                          .out = rig.zeros(DType::f32, {2, kHeads, kDim})};
  const double seen = 2 * (3 * 2 + 1);  // at most three blocks of two and an incomplete one, for each of two rows
  CHECK_EQ(device::op_cost(attend).bytes, 4.0 * 2 * 2 * kHeads * kDim + seen * 2 * 2.0 * kHeads * kDim);
  CHECK_EQ(device::op_cost(attend).operations, 4.0 * seen * kHeads * kDim);
}

PAGODA_TEST(device_ops_that_it_does_not_have_are_refused_by_name) {
  for (const std::string& name : selected_devices()) {
    Rig rig(name, 1);
    REQUIRE(rig.is_ok());
    const device::ArgmaxArgs highest{.logits = rig.floats({1, 3, 2}, {1, 3}), .tokens = rig.ints({0})};
    const device::ScaleRowsArgs scale{.x = rig.floats({1, 2}, {1, 2}), .factor = 2};
    const device::SiluRowsArgs silu{.x = scale.x};
    for (const auto& [op, status] : {std::pair{device::OpRef(highest), ops::argmax(rig.encoder(), highest)},
                                     std::pair{device::OpRef(scale), ops::scale_rows(rig.encoder(), scale)},
                                     std::pair{device::OpRef(silu), ops::silu_rows(rig.encoder(), silu)}}) {
      CHECK_EQ(status.is_ok(), rig.encoder().can(op));
      if (!status.is_ok())
        CHECK(status.code == StatusCode::unsupported &&
              status.message == std::string("this device has no ") + op.name());
    }
    CHECK_OK(rig.finish());
    CHECK_EQ(rig.encoder().can(highest), runs_kernels(name));
  }
}

// add_adapters and silu_mul on every device: against the oracles, rows without an adapter keep their bits, and a row's
// bits do not depend on the others.
#include <cmath>
#include <cstring>

#include "device/adapter_ops.h"
#include "device/conformance.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

struct Kit {
  int64_t cols = 0, num_experts = 1;
  std::vector<int64_t> counts;  // columns of each part
  std::vector<int64_t> table;   // two slots
  std::vector<float> weights;
  static constexpr int64_t kPad = 5;  // columns of out before the first part
};

// Slot 0 has ranks 1, 3, 5 ... by part; slot 1 has none for the first part.
Kit make_kit(Random& random, int64_t cols, std::vector<int64_t> counts, int64_t num_experts) {
  Kit kit{cols, num_experts, std::move(counts), {}, {}};
  int64_t size = 0;
  for (int64_t slot = 0; slot < 2; ++slot)
    for (int64_t e = 0; e < num_experts; ++e)
      for (size_t p = 0; p < kit.counts.size(); ++p) {
        const int64_t rank = slot == 1 ? (p == 0 ? 0 : 8) : 1 + 2 * static_cast<int64_t>(p) + e % 2;
        kit.table.insert(kit.table.end(), {size, size + rank * cols, rank});
        size += rank * (cols + kit.counts[p]);
      }
  kit.weights = random.normal(size, 1.0f / std::sqrt(static_cast<float>(cols)));
  return kit;
}

struct Rows {
  std::vector<float> x, out;
  std::vector<int32_t> slots, experts;
};

std::vector<float> run(Rig& rig, const Kit& kit, const Rows& rows) {
  const int64_t tokens = static_cast<int64_t>(rows.slots.size());
  const int64_t per_token = rows.experts.empty() ? 1 : static_cast<int64_t>(rows.experts.size()) / tokens;
  const int64_t parts = static_cast<int64_t>(kit.counts.size()), count = tokens * per_token;
  int64_t width = Kit::kPad;
  device::AdapterArgs args;
  for (int64_t p = 0; p < parts; ++p) {
    args.first[static_cast<size_t>(p)] = width;
    args.count[static_cast<size_t>(p)] = kit.counts[static_cast<size_t>(p)];
    width += kit.counts[static_cast<size_t>(p)];
  }
  args.x = rig.floats(rows.x, {static_cast<int64_t>(rows.x.size()) / kit.cols, kit.cols});
  args.slots = rig.ints(rows.slots);
  if (!rows.experts.empty()) args.experts = rig.ints(rows.experts, {tokens, per_token});
  const Tensor table = rig.longs(kit.table);
  args.table =
      device::dense(table.buffer, DType::i64, {2, kit.num_experts, parts, device::kAdapterFields}, table.offset_bytes);
  args.weights = rig.floats(kit.weights, {static_cast<int64_t>(kit.weights.size())});
  args.inner = rig.zeros(DType::f32, {count, parts * device::kMaxAdapterRank});
  args.out = rig.floats(rows.out, {count, width});
  args.max_rank = 8;
  CHECK_OK(ops::add_adapters(rig.encoder(), args));
  CHECK_OK(rig.finish());
  return rig.read(args.out);
}

Rows make_rows(Random& random, const Kit& kit, std::vector<int32_t> slots, int64_t per_token, bool x_by_row) {
  int64_t width = Kit::kPad;
  for (const int64_t count : kit.counts) width += count;
  Rows rows;
  rows.slots = std::move(slots);
  const int64_t tokens = static_cast<int64_t>(rows.slots.size());
  rows.x = random.normal(tokens * (x_by_row ? per_token : 1) * kit.cols);
  rows.out = random.normal(tokens * per_token * width);
  if (kit.num_experts > 1)
    for (int64_t i = 0; i < tokens * per_token; ++i)
      rows.experts.push_back(static_cast<int32_t>((i * 5 + 1) % kit.num_experts));
  return rows;
}

}  // namespace

PAGODA_TEST(conformance_adapters) {
  for (const int64_t cols : {1, 20, 300})
    for (const int64_t num_experts : {1, 3})
      for (const bool x_by_row : {false, true})
        compare("add_adapters" + text({cols, num_experts, x_by_row}), kNorm, [&](Rig& rig, Random& random) -> Outputs {
          const Kit kit = make_kit(random, cols, {7, 130, 3}, num_experts);
          const int64_t per_token = num_experts > 1 ? 2 : 1;
          return {run(rig, kit, make_rows(random, kit, {0, -1, 1, 0, 1}, per_token, x_by_row))};
        });
}

PAGODA_TEST(conformance_adapters_silu_mul) {
  for (const int64_t width : {3, 128, 300})
    for (const bool is_in_place : {false, true})
      compare("silu_mul" + text({width, is_in_place}), kElementwise, [&](Rig& rig, Random& random) -> Outputs {
        const Tensor both = rig.floats(random.normal(3 * 2 * width, 4.0f), {3, 2 * width});
        const Tensor out = is_in_place ? both : rig.zeros(DType::f32, {3, 2 * width});
        CHECK_OK(ops::silu_mul(rig.encoder(), {.x = both, .out = device::slice(out, 1, 0, width)}));
        CHECK_OK(rig.finish());
        return {rig.read(out)};
      });
}

PAGODA_TEST(adapters_leave_other_rows_and_do_not_depend_on_them) {
  for (const std::string& name : selected_devices()) {
    Random random(seed(5));
    Rig rig(name);
    REQUIRE(rig.is_ok());
    const Kit kit = make_kit(random, 70, {40, 300}, 1);
    const Rows all = make_rows(random, kit, {-1, 0, 1, -1, 0}, 1, false);
    const std::vector<float> together = run(rig, kit, all);
    const size_t width = Kit::kPad + 340, cols = 70;
    for (size_t t = 0; t < all.slots.size(); ++t) {
      const auto part = [&](const std::vector<float>& values, size_t size) {
        return std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(t * size),
                                  values.begin() + static_cast<std::ptrdiff_t>((t + 1) * size));
      };
      const std::vector<float> before = part(all.out, width), after = part(together, width);
      const std::vector<float> alone = run(rig, kit, {part(all.x, cols), before, {all.slots[t]}, {}});
      CHECK(std::memcmp(alone.data(), after.data(), width * sizeof(float)) == 0);
      CHECK_EQ(std::memcmp(before.data(), after.data(), width * sizeof(float)) == 0, all.slots[t] < 0);
    }
  }
}

// An index that a device would follow out of its memory fails the step.
PAGODA_TEST(adapters_outside_their_memory_are_refused) {
  Random random(1);
  Rig rig("cpu");
  REQUIRE(rig.is_ok());
  const Kit good = make_kit(random, 20, {7}, 1);
  const auto refuses = [&](const std::vector<int64_t>& entries, int32_t slot) {
    const Tensor table = rig.longs(entries);
    device::AdapterArgs args{.x = rig.zeros(DType::f32, {1, 20}),
                             .slots = rig.ints({slot}),
                             .experts = {},
                             .table = device::dense(table.buffer, DType::i64, {2, 1, 1, 3}, table.offset_bytes),
                             .weights = rig.floats(good.weights, {static_cast<int64_t>(good.weights.size())}),
                             .inner = rig.zeros(DType::f32, {1, device::kMaxAdapterRank}),
                             .out = rig.zeros(DType::f32, {1, 7}),
                             .count = {7},
                             .max_rank = 8};
    CHECK_OK(ops::add_adapters(rig.encoder(), args));
    return rig.finish().code == StatusCode::device_error;
  };
  const int64_t size = static_cast<int64_t>(good.weights.size());
  CHECK(!refuses({0, 20, 1, 0, 0, 0}, 0));
  CHECK(refuses({0, 20, 1, 0, 0, 0}, 2));
  CHECK(refuses({0, 20, 1, 0, 0, 0}, -2));
  CHECK(refuses({0, 20, 9, 0, 0, 0}, 0));
  CHECK(refuses({-1, 20, 1, 0, 0, 0}, 0));
  CHECK(refuses({size - 19, 20, 1, 0, 0, 0}, 0));
  CHECK(refuses({0, size - 6, 1, 0, 0, 0}, 0));
}

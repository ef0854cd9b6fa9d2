// R1 for the ops of vision towers: the bits of an image's rows do not depend on the parts in which they are computed,
// nor on another image beside it.
#include <cmath>
#include <string>
#include <vector>

#include "device/rig.h"
#include "device/stream.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

constexpr int64_t kHeads = 2, kPatches = 83, kOther = 40;

// Two images in blocks of 96 positions; some rows of the first are computed, after `neighbours` of the second.
class FullAttention {
 public:
  FullAttention(const std::string& name, int threads, DType type, int64_t dim) : rig_(name, threads), dim_(dim) {
    Random random(static_cast<uint64_t>(dim));
    queries_ = random.normal(kPatches * kHeads * dim);
    k_cache_ = rig_.kv_cache(type, 2, 96, kHeads, dim);
    v_cache_ = rig_.kv_cache(type, 2, 96, kHeads, dim);
    std::vector<int64_t> slots;
    for (int64_t i = 0; i < kPatches; ++i) slots.push_back(96 + i);
    for (int64_t i = 0; i < kOther; ++i) slots.push_back(i);
    const auto rows = [&] {
      return rig_.floats(random.normal((kPatches + kOther) * kHeads * dim), {kPatches + kOther, kHeads, dim});
    };
    const Tensor k = rows(), v = rows();
    CHECK_OK(ops::reshape_and_cache(rig_.encoder(), {k, v, rig_.longs(slots), k_cache_, v_cache_}));
  }

  Bytes step(int64_t begin, int64_t count, int64_t neighbours) {
    std::vector<float> queries = noise_.normal(neighbours * kHeads * dim_);
    queries.insert(queries.end(), queries_.begin() + begin * kHeads * dim_,
                   queries_.begin() + (begin + count) * kHeads * dim_);
    const auto rows = static_cast<int32_t>(neighbours + count);
    const bool is_alone = neighbours == 0;
    const Tensor out = rig_.zeros(DType::f32, {rows, kHeads, dim_});
    CHECK_OK(ops::paged_attention(
        rig_.encoder(), {.q = rig_.floats(queries, {rows, kHeads, dim_}),
                         .k_cache = k_cache_,
                         .v_cache = v_cache_,
                         .sequences = {.cu_seqlens = is_alone ? rig_.ints({0, rows})
                                                              : rig_.ints({0, static_cast<int32_t>(neighbours), rows}),
                                       .context_lens = is_alone ? rig_.ints({kPatches}) : rig_.ints({kOther, kPatches}),
                                       .block_tables = is_alone ? rig_.ints({1}, {1, 1}) : rig_.ints({0, 1}, {2, 1}),
                                       .state_slots = {}},
                         .scale = 1.0f / std::sqrt(static_cast<float>(dim_)),
                         .out = out,
                         .is_causal = false}));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, rows);
  }

 private:
  Rig rig_;
  Random noise_{5};
  int64_t dim_;
  std::vector<float> queries_;
  Tensor k_cache_, v_cache_;
};

}  // namespace

PAGODA_TEST(invariance_full_attention_bits_do_not_depend_on_parts) {
  const uint64_t start = seed(9);
  for (const std::string& name : selected_devices())
    for (const auto& [type, dim] : {std::pair<DType, int64_t>{DType::f32, 24}, {DType::bf16, 72}, {DType::bf16, 64}}) {
      const Bytes whole = FullAttention(name, 2, type, dim).step(0, kPatches, 0);
      Random random(start);
      for (const int64_t neighbours : {0, 1, 13, 40}) {
        FullAttention parts(name, 1 + static_cast<int>(random.below(3)), type, dim);
        Bytes all;
        for (int64_t begin = 0, count = 0; begin < kPatches; begin += count) {
          count = std::min(1 + random.below(30), kPatches - begin);
          const Bytes part = parts.step(begin, count, neighbours);
          all.insert(all.end(), part.begin(), part.end());
        }
        if (all != whole)
          fail(__FILE__, __LINE__,
               name + " dim " + std::to_string(dim) + ", " + std::to_string(neighbours) +
                   " rows of another image: the parts differ from the whole");
      }
    }
}

PAGODA_TEST(invariance_layer_norm_and_gelu_bits_do_not_depend_on_other_rows) {
  constexpr int64_t kRows = 9, kWidth = 300;
  Random random(3);
  const std::vector<float> values = random.normal(kRows * kWidth), residual = random.normal(kRows * kWidth),
                           weight = random.normal(kWidth), bias = random.normal(kWidth);
  for (const std::string& name : selected_devices()) {
    const auto rows = [&](int64_t begin, int64_t count, int threads) {
      Rig rig(name, threads);
      const auto part = [&](const std::vector<float>& all) {
        return rig.floats({all.begin() + begin * kWidth, all.begin() + (begin + count) * kWidth}, {count, kWidth});
      };
      const Tensor out = rig.zeros(DType::f32, {count, kWidth});
      CHECK_OK(ops::layer_norm(rig.encoder(), {.x = part(values),
                                               .residual = part(residual),
                                               .weight = rig.floats(weight, {kWidth}),
                                               .bias = rig.floats(bias, {kWidth}),
                                               .out = out}));
      for (const bool is_exact : {false, true}) CHECK_OK(ops::gelu(rig.encoder(), {.x = out, .is_exact = is_exact}));
      CHECK_OK(rig.finish());
      return rig.bytes(out);
    };
    Bytes single;
    for (int64_t row = 0; row < kRows; ++row) {
      const Bytes one = rows(row, 1, 1);
      single.insert(single.end(), one.begin(), one.end());
    }
    CHECK(single == rows(0, kRows, 3));
  }
}

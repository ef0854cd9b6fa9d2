// The conformance table: the ops of attention layers.
#include <algorithm>
#include <cmath>

#include "device/conformance.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

PAGODA_TEST(conformance_qk_norm_rope) {
  const struct {
    int64_t dim, rotary;
    bool has_weight, in_place;
  } rows[] = {
      {8, 4, true, false}, {24, 6, true, true}, {64, 64, false, true}, {128, 128, true, false}, {256, 64, true, true}};
  for (const auto& row : rows)
    compare("qk_norm_rope" + text({row.dim, row.rotary}), kRope, [&](Rig& rig, Random& random) -> Outputs {
      // Each head is followed by its gate: q is every other run of D elements.
      const Tensor both = rig.floats(random.normal(3 * 2 * 2 * row.dim), {3, 2, 2 * row.dim});
      const Tensor x = device::slice(both, 2, 0, row.dim),
                   out = row.in_place ? x : rig.zeros(DType::f32, {3, 2, row.dim});
      std::vector<float> inv_freq;
      for (int64_t i = 0; i < row.rotary / 2; ++i) inv_freq.push_back(std::pow(1e7f, -2.0f * i / row.rotary));
      const Tensor weight = row.has_weight ? rig.floats(random.normal(row.dim, 0.1f), {row.dim}) : Tensor{};
      CHECK_OK(ops::qk_norm_rope(rig.encoder(), {x, weight, 1e-6f, 1.0f, rig.ints({0, 17, 262143}),
                                                 rig.floats(inv_freq, {row.rotary / 2}), out}));
      CHECK_OK(rig.finish());
      return {rig.read(both), row.in_place ? std::vector<float>() : rig.read(out)};
    });
}

// As in a layer: queries and keys in place, then the cache. GPUs do all three in one launch.
PAGODA_TEST(conformance_rope_and_cache) {
  constexpr int64_t kTokens = 3, kHeads = 4, kKvHeads = 2;
  for (DType type : kKvTypes)
    for (const auto& [dim, has_weight] : {std::pair<int64_t, bool>{24, true}, {64, false}, {72, true}}) {
      // One unit of the cache's type: of numbers up to 6 in int8.
      const double unit = type == DType::f32 ? 0 : type == DType::f16 ? 1e-3 : type == DType::bf16 ? 8e-3 : 6.0 / 127;
      compare("rope_and_cache " + text(type) + text({dim}), Tolerance{kRope.absolute + unit, kRope.relative + unit},
              [&](Rig& rig, Random& random) -> Outputs {
                const int64_t width = (kHeads + 2 * kKvHeads) * dim;
                const Tensor all = rig.floats(random.normal(kTokens * width), {kTokens, width});
                const auto heads = [&](int64_t first, int64_t count) {
                  return device::split_last(device::slice(all, 1, first * dim, count * dim), count, dim);
                };
                const Tensor q = heads(0, kHeads), k = heads(kHeads, kKvHeads), v = heads(kHeads + kKvHeads, kKvHeads);
                std::vector<float> inv_freq;
                for (int64_t i = 0; i < dim / 4; ++i) inv_freq.push_back(std::pow(1e4f, -4.0f * i / dim));
                const Tensor positions = rig.ints({3, 170, 9}), frequencies = rig.floats(inv_freq, {dim / 4});
                const Tensor k_cache = rig.kv_cache(type, 3, 8, kKvHeads, dim),
                             v_cache = rig.kv_cache(type, 3, 8, kKvHeads, dim);
                for (const Tensor& x : {q, k}) {
                  const Tensor weight = has_weight ? rig.floats(random.normal(dim, 0.1f), {dim}) : Tensor{};
                  CHECK_OK(ops::qk_norm_rope(rig.encoder(), {x, weight, 1e-6f, 1.0f, positions, frequencies, x}));
                }
                CHECK_OK(ops::reshape_and_cache(rig.encoder(), {k, v, rig.longs({23, 0, 9}), k_cache, v_cache}));
                CHECK_OK(rig.finish());
                return {rig.read(all), rig.read_cache(k_cache), rig.read_cache(v_cache)};
              });
    }
}

PAGODA_TEST(conformance_reshape_and_cache) {
  for (DType type : kKvTypes)
    for (int64_t dim : {8, 21, 24, 256})
      compare("reshape_and_cache " + text(type) + text({dim}), kExact, [&](Rig& rig, Random& random) -> Outputs {
        const int64_t heads = 2;
        const Tensor k = rig.floats(random.normal(4 * heads * dim, 100.0f), {4, heads, dim});
        const Tensor v =
            rig.floats(random.normal(4 * heads * dim, 1e-6f), {4, heads, dim});  // half-precision subnormals
        const Tensor k_cache = rig.kv_cache(type, 3, 8, heads, dim), v_cache = rig.kv_cache(type, 3, 8, heads, dim);
        CHECK_OK(ops::reshape_and_cache(rig.encoder(), {k, v, rig.longs({23, 0, 9, 8}), k_cache, v_cache}));
        CHECK_OK(rig.finish());
        return {rig.read(whole_rows(k_cache)), rig.read(whole_rows(v_cache))};
      });
}

namespace {

struct AttentionShape {
  int64_t heads, kv_heads, dim, block_size;
  int32_t window;
  float softcap = 0;
  bool has_sinks = false;
};

// Writes NaN where nothing may be read: past each sequence's context, where an earlier owner may have left it, and in
// partitions of 256 that end before the window. An int8 row cannot represent it. Blocks as in make_sequences(), rows
// [blocks][block_size][row_size].
void spoil_unused(std::vector<float>& rows, const Batch& batch, int64_t block_size, int64_t row_size, int32_t window) {
  const int64_t n = batch.num_sequences(), num_slots = static_cast<int64_t>(rows.size()) / row_size;
  for (int64_t slot = 0; slot < num_slots; ++slot) {
    const int64_t block = slot / block_size, b = block % n, position = block / n * block_size + slot % block_size;
    const int64_t first = window > 0 ? std::max<int64_t>(0, batch.cached[b] - window + 1) / 256 * 256 : 0;
    if (position >= first && position < batch.cached[b] + batch.rows[b]) continue;
    for (int64_t i = slot * row_size; i < (slot + 1) * row_size; ++i) rows[i] = std::nanf("");
  }
}

// Attention of a batch over random keys and values; each sequence has space for `max_context` tokens.
void compare_attention(DType type, const AttentionShape& row, const Batch& batch, int64_t max_context) {
  compare("paged_attention " + text(type) + text({row.heads, row.kv_heads, row.dim, row.block_size, row.window}) +
              (row.softcap > 0 ? " softcap" : "") + (row.has_sinks ? " sinks" : ""),
          attention_over(type, row.dim), [&](Rig& rig, Random& random) -> Outputs {
            const int64_t max_blocks = (max_context + row.block_size - 1) / row.block_size, n = batch.num_sequences(),
                          tokens = n * max_blocks * row.block_size;
            std::vector<float> keys = random.normal(tokens * row.kv_heads * row.dim),
                               values = random.normal(keys.size());
            if (type != DType::i8)
              for (std::vector<float>* rows : {&keys, &values})
                spoil_unused(*rows, batch, row.block_size, row.kv_heads * row.dim, row.window);
            const Tensor k = rig.floats(keys, {tokens, row.kv_heads, row.dim}),
                         v = rig.floats(values, {tokens, row.kv_heads, row.dim});
            const Tensor k_cache = rig.kv_cache(type, n * max_blocks, row.block_size, row.kv_heads, row.dim),
                         v_cache = rig.kv_cache(type, n * max_blocks, row.block_size, row.kv_heads, row.dim);
            std::vector<int64_t> slots(static_cast<size_t>(tokens));
            for (int64_t i = 0; i < tokens; ++i) slots[i] = i;
            CHECK_OK(ops::reshape_and_cache(rig.encoder(), {k, v, rig.longs(slots), k_cache, v_cache}));
            const int64_t t = batch.num_rows();
            const Tensor q = rig.floats(random.normal(t * row.heads * row.dim), {t, row.heads, row.dim});
            const Tensor out = rig.zeros(DType::f32, {t, row.heads, row.dim});
            // Sinks comparable to the scores, plus one that takes nothing and one that takes everything.
            std::vector<float> logits = random.normal(row.heads, 5.0f);
            logits.front() = -200;
            logits.back() = 200;
            const Tensor sinks = row.has_sinks ? rig.floats(logits, {row.heads}) : Tensor{};
            CHECK_OK(ops::paged_attention(
                rig.encoder(), {q, k_cache, v_cache, make_sequences(rig, batch, row.block_size, max_blocks),
                                1.0f / std::sqrt(static_cast<float>(row.dim)), row.window, out, row.softcap, sinks}));
            CHECK_OK(rig.finish());
            return {rig.read(out)};
          });
}

}  // namespace

// The last sequence fills its block table row.
PAGODA_TEST(conformance_paged_attention) {
  const AttentionShape shapes[] = {{4, 2, 8, 16, 0},
                                   {3, 1, 24, 8, 0},
                                   {4, 1, 64, 32, 0},
                                   {2, 1, 256, 16, 0},
                                   {4, 1, 32, 16, 5},
                                   {6, 2, 16, 8, 40},
                                   {20, 1, 16, 16, 0},
                                   {140, 1, 16, 16, 0},
                                   {6, 2, 32, 8, 40},
                                   {140, 1, 32, 16, 0},
                                   {4, 2, 32, 16, 0, 1.5f},
                                   {6, 2, 32, 8, 40, 0, true},
                                   {3, 1, 24, 16, 0, 0.5f, true}};
  for (DType type : kKvTypes)
    for (const AttentionShape& shape : shapes) compare_attention(type, shape, {{0, 70, 31, 95}, {37, 1, 4, 1}}, 96);
}

// One row on each side of chunk and partition boundaries, and a tile that crosses one.
PAGODA_TEST(conformance_paged_attention_over_partitions) {
  const Batch batch{{0, 30, 31, 32, 254, 255, 256, 510, 511, 512, 1099, 505}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 20}};
  for (DType type : kKvTypes)
    for (int32_t window : {0, 300})
      for (int64_t dim : type == DType::bf16 ? std::vector<int64_t>{8, 32} : std::vector<int64_t>{8})
        compare_attention(type, {4, 1, dim, 16, window, window / 200.0f, window > 0}, batch, 1104);
}

// A single long sequence is split over the threads.
PAGODA_TEST(conformance_paged_attention_of_one_long_sequence) {
  for (DType type : kKvTypes)
    for (int32_t window : {0, 600})
      for (int64_t dim : type == DType::bf16 ? std::vector<int64_t>{24, 32} : std::vector<int64_t>{24})
        compare_attention(type, {6, 2, dim, 32, window}, {{1500}, {1}}, 1504);
}

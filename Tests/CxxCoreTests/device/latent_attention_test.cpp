// cache_latents and latent_attention on every device that has them: close to the reference, the same bits for any split
// of positions, and refusals.
#include <cmath>

#include "device/conformance.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

struct LatentShape {
  int64_t heads, dim, value_dim, block_size;
};

// [num_blocks, block_size, dim]; int8 rows have space for their scales.
Tensor latent_cache(Rig& rig, DType type, int64_t num_blocks, int64_t block_size, int64_t dim) {
  Tensor cache = rig.kv_cache(type, num_blocks, block_size, 1, dim);
  cache.shape[2] = dim;
  cache.strides[2] = 1;
  cache.rank = 3;
  return cache;
}

// Attention of a batch over random rows; entries that no sequence has written hold NaN, except in an int8 cache.
void compare_latents(DType type, const LatentShape& row, const Batch& batch, int64_t max_context) {
  const int64_t max_blocks = (max_context + row.block_size - 1) / row.block_size, n = batch.num_sequences();
  const int64_t tokens = n * max_blocks * row.block_size;
  Tolerances tolerances = attention_over(type, row.dim % 32 == 0 ? row.value_dim : 1);
  // AMX rounds queries and weights to bf16: among 80,000 numbers of real sizes the largest error is further out.
  if (type == DType::bf16 && row.dim > 256) tolerances.on_tiles.absolute *= 2;
  compare(
      "latent_attention " + text(type) + text({row.heads, row.dim, row.value_dim, row.block_size}), tolerances,
      [&](Rig& rig, Random& random) -> Outputs {
        std::vector<float> rows = random.normal(tokens * row.dim);
        for (int64_t slot = 0; type != DType::i8 && slot < tokens; ++slot) {
          const int64_t block = slot / row.block_size, b = block % n;
          if (block / n * row.block_size + slot % row.block_size < batch.cached[b] + batch.rows[b]) continue;
          for (int64_t i = 0; i < row.dim; ++i) rows[slot * row.dim + i] = std::nanf("");
        }
        std::vector<int64_t> slots(static_cast<size_t>(tokens));
        for (int64_t i = 0; i < tokens; ++i) slots[i] = i;
        const Tensor cache = latent_cache(rig, type, n * max_blocks, row.block_size, row.dim);
        CHECK_OK(ops::cache_latents(rig.encoder(), {rig.floats(rows, {tokens, row.dim}), rig.longs(slots), cache}));
        const int64_t t = batch.num_rows();
        const Tensor q = rig.floats(random.normal(t * row.heads * row.dim), {t, row.heads, row.dim});
        const Tensor out = rig.zeros(DType::f32, {t, row.heads, row.value_dim});
        CHECK_OK(ops::latent_attention(rig.encoder(), {q, cache, make_sequences(rig, batch, row.block_size, max_blocks),
                                                       1.0f / std::sqrt(static_cast<float>(row.dim)), out}));
        CHECK_OK(rig.finish());
        return {rig.read(out)};
      },
      row.dim % 8 == 0 && row.value_dim % 8 == 0 ? Devices::all : Devices::without_kernels);
}

// The filled cache of one sequence, and its queries: a batch may contain any prefixes of it.
class LongLatents {
 public:
  static constexpr int64_t kLength = 1100, kHeads = 3, kDim = 64, kValueDim = 32;

  LongLatents(const std::string& device, int threads, DType type) : rig_(device, threads) {
    Random random(61);
    q_ = random.normal(kLength * kHeads * kDim);
    cache_ = latent_cache(rig_, type, kBlocks, 16, kDim);
    std::vector<int64_t> slots;
    for (int64_t i = 0; i < kLength; ++i) slots.push_back((kBlocks - 1 - i / 16) * 16 + i % 16);
    const Tensor rows = rig_.floats(random.normal(kLength * kDim), {kLength, kDim});
    CHECK_OK(ops::cache_latents(rig_.encoder(), {rows, rig_.longs(slots), cache_}));
  }

  std::vector<std::byte> attend(const Batch& batch) {
    std::vector<float> q;
    std::vector<int32_t> tables;
    for (int64_t b = 0; b < batch.num_sequences(); ++b) {
      const auto first = q_.begin() + batch.cached[b] * kHeads * kDim;
      q.insert(q.end(), first, first + batch.rows[b] * kHeads * kDim);
      for (int32_t i = 0; i < kBlocks; ++i) tables.push_back(kBlocks - 1 - i);
    }
    device::SequenceArgs s = make_sequences(rig_, batch, 16, kBlocks);
    s.block_tables = rig_.ints(tables, {batch.num_sequences(), kBlocks});
    const int64_t rows = batch.num_rows();
    const Tensor out = rig_.zeros(DType::f32, {rows, kHeads, kValueDim});
    CHECK_OK(ops::latent_attention(rig_.encoder(), {rig_.floats(q, {rows, kHeads, kDim}), cache_, s, 0.1f, out}));
    CHECK_OK(rig_.finish());
    return rig_.bytes(out);
  }

  bool gives(const Batch& batch, const std::vector<std::byte>& whole) {
    const auto row = static_cast<std::ptrdiff_t>(whole.size() / kLength);
    std::vector<std::byte> wanted;
    for (int64_t b = 0; b < batch.num_sequences(); ++b)
      wanted.insert(wanted.end(), whole.begin() + row * batch.cached[b],
                    whole.begin() + row * (batch.cached[b] + batch.rows[b]));
    return attend(batch) == wanted;
  }

 private:
  static constexpr int32_t kBlocks = 69;
  Rig rig_;
  std::vector<float> q_;
  Tensor cache_;
};

}  // namespace

// Rows and values that are and are not multiples of vectors and of AMX tiles.
PAGODA_TEST(conformance_latent_attention) {
  const LatentShape shapes[] = {{4, 40, 32, 16}, {3, 24, 16, 8}, {16, 96, 64, 32}, {5, 64, 64, 16}};
  for (DType type : kKvTypes)
    for (const LatentShape& shape : shapes) compare_latents(type, shape, {{0, 70, 31, 95}, {37, 1, 4, 1}}, 96);
}

// Sizes of real models, more heads than a task's queries, and row sizes without a specialised kernel.
PAGODA_TEST(conformance_latents_of_real_and_odd_sizes) {
  for (DType type : kKvTypes) {
    compare_latents(type, {16, 576, 512, 16}, {{0, 33}, {5, 1}}, 48);
    compare_latents(type, {40, 288, 256, 16}, {{17}, {3}}, 32);
    compare_latents(type, {300, 48, 32, 16}, {{9}, {2}}, 16);
    compare_latents(type, {2, 21, 13, 16}, {{0, 70, 31, 95}, {37, 1, 4, 1}}, 96);
  }
}

PAGODA_TEST(conformance_latent_attention_over_partitions) {
  const Batch batch{{0, 31, 32, 254, 255, 256, 511, 1099, 505}, {1, 1, 1, 1, 1, 1, 1, 1, 20}};
  for (DType type : kKvTypes) {
    compare_latents(type, {4, 40, 32, 16}, batch, 1104);
    compare_latents(type, {6, 96, 64, 32}, {{1500}, {1}}, 1504);  // split over the threads
  }
}

PAGODA_TEST(invariance_latent_attention_bits_do_not_depend_on_how_positions_are_split) {
  const Batch one_row_each{{0, 31, 32, 255, 256, 511, 512, 1099}, {1, 1, 1, 1, 1, 1, 1, 1}};
  const Batch mixed{{1099, 4, 300, 256, 1023}, {1, 1, 40, 1, 77}};
  for (const std::string& name : tested_devices()) {
    for (DType type : kKvTypes) {
      const std::vector<std::byte> whole = LongLatents(name, 1, type).attend({{0}, {LongLatents::kLength}});
      for (int threads : {2, 16}) {
        LongLatents sequence(name, threads, type);
        for (int64_t p : {255, 256, 700, 1099}) CHECK(sequence.gives({{p}, {1}}, whole));
        for (const Batch& batch : {one_row_each, mixed, Batch{{1000}, {100}}}) CHECK(sequence.gives(batch, whole));
        if (failed()) note(name + " " + text(type) + " " + std::to_string(threads));
      }
    }
  }
}

// The row as stored in the cache, with the scale of an int8 row.
PAGODA_TEST(conformance_cache_latents) {
  for (DType type : kKvTypes)
    for (int64_t dim : {8, 21, 288, 576})
      compare("cache_latents " + text(type) + text({dim}), kExact, [&](Rig& rig, Random& random) -> Outputs {
        const Tensor wide = rig.floats(random.normal(4 * (dim + 3), 100.0f), {4, dim + 3});
        Tensor cache = latent_cache(rig, type, 3, 8, dim);
        CHECK_OK(ops::cache_latents(rig.encoder(), {device::slice(wide, 1, 2, dim), rig.longs({23, 0, 9, 8}), cache}));
        CHECK_OK(rig.finish());
        cache.shape[2] = cache.strides[1];
        return {rig.read(cache)};
      });
}

PAGODA_TEST(ops_latents_check_shapes_and_indices) {
  Rig rig("cpu");
  const Tensor cache = latent_cache(rig, DType::f32, 2, 8, 24), x = rig.zeros(DType::f32, {1, 24});
  const auto sequences = make_sequences(rig, {{3}, {1}}, 8, 2);
  const auto attend = [&](int64_t dim, int64_t value_dim) {
    return ops::latent_attention(rig.encoder(), {rig.zeros(DType::f32, {1, 2, dim}), cache, sequences, 1.0f,
                                                 rig.zeros(DType::f32, {1, 2, value_dim})});
  };
  CHECK_OK(attend(24, 16));
  CHECK_OK(rig.finish());
  for (const Status& status : {attend(24, 25), attend(24, 0), attend(20, 16)})
    CHECK(status.code == StatusCode::internal);
  CHECK(ops::cache_latents(rig.encoder(), {rig.zeros(DType::f32, {1, 20}), rig.longs({0}), cache}).code ==
        StatusCode::internal);
  for (int64_t slot : {-1, 16}) {
    CHECK_OK(ops::cache_latents(rig.encoder(), {x, rig.longs({slot}), cache}));
    CHECK(rig.finish().code == StatusCode::device_error);
  }
}

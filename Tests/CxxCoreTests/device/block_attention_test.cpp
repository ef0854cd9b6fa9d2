// Sparse attention with an indexer on every device that has it: close to the reference, ties, the same bits for any
// split into steps, rows taken back, and refusals.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/conformance.h"
#include "device/stream.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

struct SparseShape {
  int64_t heads = 6, kv_heads = 2, dim = 16, index_heads = 4, index_dim = 20, rotary = 8;
  int64_t ratio = 4, num_blocks = 3, block_size = 16;
  DType type = DType::f32;
};

// The caches and weights of one layer, and its three ops.
class SparseLayer {
 public:
  SparseLayer(Rig& rig, const SparseShape& shape, int64_t cache_blocks) : rig_(rig), s(shape) {
    Random random(71);
    weight_ = rig.floats(random.normal(s.index_dim), {s.index_dim});
    std::vector<float> speeds;
    for (int64_t i = 0; i < s.rotary / 2; ++i) speeds.push_back(std::pow(100.0f, -2.0f * i / s.rotary));
    inv_freq_ = rig.floats(speeds, {s.rotary / 2});
    k = rig.kv_cache(s.type, cache_blocks, s.block_size, s.kv_heads, s.dim);
    v = rig.kv_cache(s.type, cache_blocks, s.block_size, s.kv_heads, s.dim);
    index = rig.zeros(DType::f32, {cache_blocks, s.block_size, s.index_dim});
  }
  // Of a row: queries | keys | values | index queries | index key.
  int64_t width() const { return (s.heads + 2 * s.kv_heads) * s.dim + (s.index_heads + 1) * s.index_dim; }

  void run(const Tensor& rows, const std::vector<int64_t>& slots, const device::SequenceArgs& sequences) {
    const int64_t q = s.heads * s.dim, kv = s.kv_heads * s.dim, first = q + 2 * kv;
    const auto heads = [&](int64_t begin, int64_t count, int64_t dim) {
      return device::split_last(device::slice(rows, 1, begin, count * dim), count, dim);
    };
    chosen = rig_.zeros(DType::i32, {rows.shape[0], s.num_blocks});
    out = rig_.zeros(DType::f32, {rows.shape[0], s.heads, s.dim});
    CHECK_OK(ops::reshape_and_cache(
        rig_.encoder(), {heads(q, s.kv_heads, s.dim), heads(q + kv, s.kv_heads, s.dim), rig_.longs(slots), k, v}));
    CHECK_OK(ops::cache_index_keys(rig_.encoder(),
                                   {.x = device::slice(rows, 1, first + s.index_heads * s.index_dim, s.index_dim),
                                    .weight = weight_,
                                    .weight_offset = 1.0f,
                                    .inv_freq = inv_freq_,
                                    .ratio = s.ratio,
                                    .sequences = sequences,
                                    .cache = index}));
    CHECK_OK(ops::select_blocks(rig_.encoder(), {.q = heads(first, s.index_heads, s.index_dim),
                                                 .cache = index,
                                                 .ratio = s.ratio,
                                                 .sequences = sequences,
                                                 .out = chosen}));
    CHECK_OK(ops::block_attention(rig_.encoder(), {.q = heads(0, s.heads, s.dim),
                                                   .k_cache = k,
                                                   .v_cache = v,
                                                   .blocks = chosen,
                                                   .ratio = s.ratio,
                                                   .sequences = sequences,
                                                   .scale = 0.25f,
                                                   .out = out}));
    CHECK_OK(rig_.finish());
  }

 private:
  Rig& rig_;
  Tensor weight_, inv_freq_;

 public:
  SparseShape s;
  Tensor k, v, index, chosen, out;
};

// Slots of the rows of a batch whose tables are those of make_sequences().
std::vector<int64_t> slots_of(const Batch& batch, int64_t block_size) {
  std::vector<int64_t> slots;
  for (int64_t b = 0; b < batch.num_sequences(); ++b)
    for (int64_t i = batch.cached[b]; i < batch.cached[b] + batch.rows[b]; ++i)
      slots.push_back((i / block_size * batch.num_sequences() + b) * block_size + i % block_size);
  return slots;
}

class SparseStream final : public Stream {
 public:
  SparseStream(const std::string& device, int threads, const SparseShape& shape)
      : rig_(device, threads), layer_(rig_, shape, 40) {
    rows_ = Random(81).normal(kTokens * layer_.width());
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    // The sequence under test always has the odd blocks.
    const Tensor rows = rows_with_neighbour(rig_, noise_, rows_, layer_.width(), begin, count, neighbour, num_wrong);
    device::SequenceArgs sequences = make_sequences(rig_, batch_of(begin, count, neighbour), layer_.s.block_size, 20);
    std::vector<int64_t> slots;
    const int64_t size = layer_.s.block_size;
    for (int64_t i = 0; i < neighbour; ++i) slots.push_back(i / size * 2 * size + i % size);
    for (int64_t i = begin; i < begin + count; ++i) slots.push_back((i / size * 2 + 1) * size + i % size);
    std::vector<int32_t> tables;
    for (int32_t b = neighbour > 0 ? 0 : 1; b < 2; ++b)
      for (int32_t i = 0; i < 20; ++i) tables.push_back(2 * i + b);
    sequences.block_tables = rig_.ints(tables, {static_cast<int64_t>(tables.size() / 20), 20});
    layer_.run(rows, slots, sequences);
    return last_rows(rig_.bytes(layer_.out), count, neighbour + count);
  }
  Bytes state() override { return {}; }

 private:
  Rig rig_;
  Random noise_{82};
  SparseLayer layer_;
  std::vector<float> rows_;
};

// Rows of three sequences in two steps; everything that a step leaves.
Outputs two_steps(Rig& rig, Random& random, const SparseShape& shape) {
  const Batch first{{0, 0, 0}, {3, 70, 16}}, second{{3, 70, 16}, {9, 1, 33}};
  SparseLayer layer(rig, shape, 3 * 20);
  Outputs outputs;
  for (const Batch* batch : {&first, &second}) {
    const int64_t t = batch->num_rows();
    const Tensor rows = rig.floats(random.normal(t * layer.width()), {t, layer.width()});
    layer.run(rows, slots_of(*batch, shape.block_size), make_sequences(rig, *batch, shape.block_size, 20));
    for (const Tensor* tensor : {&layer.index, &layer.out}) outputs.push_back(rig.read(*tensor));
    const std::vector<std::byte> chosen = rig.bytes(layer.chosen);
    std::vector<int32_t> ids(chosen.size() / sizeof(int32_t));
    std::memcpy(ids.data(), chosen.data(), chosen.size());
    outputs.emplace_back(ids.begin(), ids.end());
  }
  return outputs;
}

}  // namespace

PAGODA_TEST(conformance_block_attention) {
  const SparseShape shapes[] = {{},
                                {.ratio = 5, .num_blocks = 4, .block_size = 8},
                                {.index_dim = 8, .ratio = 16, .num_blocks = 2},
                                {.ratio = 24, .num_blocks = 1, .block_size = 8},
                                {.heads = 4, .kv_heads = 1, .dim = 32, .ratio = 1, .num_blocks = 7},
                                {.ratio = 4, .num_blocks = 100},
                                {.ratio = 8, .type = DType::f16},
                                {.dim = 32, .ratio = 8, .type = DType::i8},
                                {.dim = 24, .ratio = 6, .type = DType::bf16}};
  for (const SparseShape& shape : shapes)
    compare(
        "block_attention " + text(shape.type) + text({shape.dim, shape.ratio, shape.num_blocks, shape.block_size}),
        attention_over(shape.type, shape.dim),
        [&](Rig& rig, Random& random) -> Outputs { return two_steps(rig, random, shape); }, Devices::without_kernels);
}

// As paged_attention if every block is chosen.
PAGODA_TEST(conformance_block_attention_to_all_blocks_is_attention) {
  for (const std::string& name : tested_devices()) {
    if (runs_kernels(name)) continue;
    Rig rig(name);
    Random random(seed(4));
    SparseLayer layer(rig, {.num_blocks = 20}, 10);
    const Batch batch{{0}, {70}};
    const Tensor rows = rig.floats(random.normal(70 * layer.width()), {70, layer.width()});
    const auto sequences = make_sequences(rig, batch, 16, 10);
    layer.run(rows, slots_of(batch, 16), sequences);
    const Tensor q = device::split_last(device::slice(rows, 1, 0, 6 * 16), 6, 16),
                 out = rig.zeros(DType::f32, {70, 6, 16});
    CHECK_OK(ops::paged_attention(
        rig.encoder(),
        {.q = q, .k_cache = layer.k, .v_cache = layer.v, .sequences = sequences, .scale = 0.25f, .out = out}));
    CHECK_OK(rig.finish());
    const std::vector<float> sparse = rig.read(layer.out), full = rig.read(out);
    for (size_t i = 0; i < full.size(); ++i) CHECK(std::abs(sparse[i] - full[i]) < 1e-5f);
  }
}

// Of blocks with equal scores the first are chosen, in increasing order.
PAGODA_TEST(conformance_of_equal_blocks_the_first_are_chosen) {
  for (const std::string& name : selected_devices()) {
    if (runs_kernels(name)) continue;
    Rig rig(name);
    constexpr int64_t kBlocks = 12;
    std::vector<float> keys(kBlocks * 4, -1.0f);  // scores of 0
    for (const int64_t block : {3, 9, 10}) keys[static_cast<size_t>(block) * 4] = 1.0f;
    keys[7 * 4] = 2.0f;
    const Tensor cache = rig.floats(keys, {3, 4, 4});
    const auto chosen = [&](int64_t count) {
      const Tensor out = rig.zeros(DType::i32, {1, count});
      CHECK_OK(ops::select_blocks(rig.encoder(), {.q = rig.floats({1, 0, 0, 0, 0, 0, 0, 0}, {1, 2, 4}),
                                                  .cache = cache,
                                                  .ratio = 1,
                                                  .sequences = make_sequences(rig, {{11}, {1}}, 4, 3),
                                                  .out = out}));
      CHECK_OK(rig.finish());
      const auto bytes = rig.bytes(out);
      std::vector<int32_t> ids(bytes.size() / sizeof(int32_t));
      std::memcpy(ids.data(), bytes.data(), bytes.size());
      return ids;
    };
    CHECK(chosen(1) == std::vector<int32_t>({7}));
    CHECK(chosen(3) == std::vector<int32_t>({3, 7, 9}));
    CHECK(chosen(6) == std::vector<int32_t>({0, 1, 3, 7, 9, 10}));
    CHECK(chosen(13) == std::vector<int32_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1}));
  }
}

PAGODA_TEST(invariance_block_attention_bits_do_not_depend_on_chunks) {
  for (const SparseShape& shape : {SparseShape{}, SparseShape{.ratio = 5, .num_blocks = 4, .block_size = 8},
                                   SparseShape{.ratio = 24, .num_blocks = 2, .block_size = 8, .type = DType::i8}})
    check_stream(
        "block_attention" + text({shape.ratio}),
        [&](const std::string& name, int threads) { return std::make_unique<SparseStream>(name, threads, shape); },
        Devices::without_kernels);
}

PAGODA_TEST(invariance_rows_of_block_attention_can_be_taken_back) {
  check_taking_back(
      "block_attention",
      [](const std::string& name, int threads) {
        return std::make_unique<SparseStream>(name, threads, SparseShape{.ratio = 3, .num_blocks = 4});
      },
      Devices::without_kernels);
}

PAGODA_TEST(ops_block_attention_checks_shapes_and_blocks) {
  for (const std::string& name : tested_devices()) {
    if (runs_kernels(name)) continue;
    Rig rig(name);
    const auto f = [&](std::initializer_list<int64_t> shape) { return rig.zeros(DType::f32, shape); };
    const auto sequences = make_sequences(rig, {{5}, {2}}, 4, 2);  // at positions 5 and 6
    const device::BlockAttentionArgs good{.q = f({2, 2, 8}),
                                          .k_cache = f({2, 4, 1, 8}),
                                          .v_cache = f({2, 4, 1, 8}),
                                          .blocks = rig.ints({0, 2, 1, -1}, {2, 2}),
                                          .ratio = 2,
                                          .sequences = sequences,
                                          .out = f({2, 2, 8})};
    CHECK_OK(ops::block_attention(rig.encoder(), good));
    CHECK_OK(rig.finish());
    for (const std::vector<int32_t>& blocks :
         {std::vector<int32_t>{0, 3, 1, -1}, {1, 1, 1, -1}, {-1, 1, 0, 1}, {0, 1, -2, -1}}) {
      device::BlockAttentionArgs wrong = good;
      wrong.blocks = rig.ints(blocks, {2, 2});
      CHECK_OK(ops::block_attention(rig.encoder(), wrong));
      CHECK(!rig.finish().is_ok());
    }
    device::BlockAttentionArgs wrong = good;
    wrong.ratio = 0;
    CHECK(!ops::block_attention(rig.encoder(), wrong).is_ok());
    wrong = good;
    wrong.v_cache = f({2, 4, 2, 8});
    CHECK(!ops::block_attention(rig.encoder(), wrong).is_ok());
    wrong = good;
    wrong.blocks = rig.ints({0, 0}, {1, 2});
    CHECK(!ops::block_attention(rig.encoder(), wrong).is_ok());

    const device::CacheIndexKeysArgs keys{.x = f({2, 6}),
                                          .weight = f({6}),
                                          .inv_freq = f({3}),
                                          .ratio = 2,
                                          .sequences = sequences,
                                          .cache = f({2, 4, 6})};
    CHECK_OK(ops::cache_index_keys(rig.encoder(), keys));
    device::CacheIndexKeysArgs bad = keys;
    bad.inv_freq = f({4});
    CHECK(!ops::cache_index_keys(rig.encoder(), bad).is_ok());
    bad = keys;
    bad.cache = f({2, 4, 5});
    CHECK(!ops::cache_index_keys(rig.encoder(), bad).is_ok());
    CHECK(!ops::select_blocks(rig.encoder(), {.q = f({2, 3, 6}),
                                              .cache = keys.cache,
                                              .ratio = 1 << 17,
                                              .sequences = sequences,
                                              .out = rig.zeros(DType::i32, {2, 2})})
               .is_ok());
    CHECK_OK(rig.finish());
  }
}

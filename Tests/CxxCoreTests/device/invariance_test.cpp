// R1 at the level of ops: a row's bits depend on its own prefix only, not on neighbours, chunks, threads or tiles.
#include <cmath>
#include <cstring>

#include "device/registry.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

using Bytes = std::vector<std::byte>;

// A whole sequence of one op, fed in chunks; `neighbour` rows of another sequence ride along in front of every step.
class Stream {
 public:
  virtual ~Stream() = default;
  // Outputs of rows [begin, begin + count) of the sequence.
  virtual Bytes step(int64_t begin, int64_t count, int64_t neighbour) = 0;
  virtual Bytes state() = 0;  // what the op keeps for the sequence
};

constexpr int64_t kTokens = 75;

// The batch of one step. The neighbour (sequence 0) always starts anew; the sequence under test comes last, so its slot
// is the number of sequences.
Batch batch_of(int64_t begin, int64_t count, int64_t neighbour) {
  return neighbour > 0 ? Batch{{0, begin}, {neighbour, count}} : Batch{{begin}, {count}};
}

Tensor rows_with_neighbour(Rig& rig, Random& random, const std::vector<float>& all, int64_t width, int64_t begin,
                           int64_t count, int64_t neighbour) {
  std::vector<float> values = random.normal(neighbour * width);
  values.insert(values.end(), all.begin() + begin * width, all.begin() + (begin + count) * width);
  return rig.floats(values, {neighbour + count, width});
}

Bytes last_rows(const Bytes& all, int64_t rows, int64_t total) {
  return Bytes(all.end() - static_cast<std::ptrdiff_t>(all.size() / total * rows), all.end());
}

device::SequenceArgs sequences_at_slot_2(Rig& rig, const Batch& batch, int64_t block_size, int64_t max_blocks) {
  device::SequenceArgs s = make_sequences(rig, batch, block_size, max_blocks);
  s.state_slots = batch.num_sequences() == 2 ? rig.ints({1, 2}) : rig.ints({2});
  return s;
}

Bytes slot_2(Rig& rig, const Tensor& pool) {
  const Bytes all = rig.bytes(pool);
  const size_t size = all.size() / 3;
  return Bytes(all.begin() + 2 * size, all.end());
}

class ConvStream final : public Stream {
 public:
  ConvStream(const std::string& device, int threads) : rig_(device, threads) {
    Random random(11);
    x_ = random.normal(kTokens * kChannels);
    weight_ = rig_.floats(random.normal(kChannels * 4), {4, kChannels});
    tail_ = rig_.zeros(DType::f32, {3, 3, kChannels});
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    const Batch batch = batch_of(begin, count, neighbour);
    const Tensor x = rows_with_neighbour(rig_, noise_, x_, kChannels, begin, count, neighbour);
    const Tensor out = rig_.zeros(DType::f32, {neighbour + count, kChannels});
    CHECK_OK(ops::causal_conv1d(rig_.encoder(), {x, weight_, tail_, sequences_at_slot_2(rig_, batch, 16, 8), out}));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, neighbour + count);
  }
  Bytes state() override { return slot_2(rig_, tail_); }

 private:
  static constexpr int64_t kChannels = 290;
  Rig rig_;
  Random noise_{12};
  std::vector<float> x_;
  Tensor weight_, tail_;
};

class GdnStream final : public Stream {
 public:
  GdnStream(const std::string& device, int threads, int64_t dk, int64_t dv) : rig_(device, threads), dk_(dk), dv_(dv) {
    Random random(21);
    qkv_ = random.normal(kTokens * width());
    ab_ = random.normal(kTokens * 2 * kVHeads);
    a_log_ = rig_.floats(random.normal(kVHeads), {kVHeads});
    dt_bias_ = rig_.floats(std::vector<float>(kVHeads, -3.0f), {kVHeads});
    state_ = rig_.zeros(DType::f32, {3, kVHeads, dk, dv});
    k_rows_ = rig_.zeros(DType::f32, {3, kKHeads, 16, dk});
    u_rows_ = rig_.zeros(DType::f32, {3, kVHeads, 16, dv});
    g_rows_ = rig_.zeros(DType::f32, {3, kVHeads, 16});
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    using device::slice, device::split_last;
    const int64_t keys = kKHeads * dk_;
    const Tensor qkv = rows_with_neighbour(rig_, noise_, qkv_, width(), begin, count, neighbour);
    const Tensor ab = rows_with_neighbour(rig_, noise_, ab_, 2 * kVHeads, begin, count, neighbour);
    const Tensor out = rig_.zeros(DType::f32, {neighbour + count, kVHeads, dv_});
    CHECK_OK(ops::gdn(
        rig_.encoder(),
        {split_last(slice(qkv, 1, 0, keys), kKHeads, dk_), split_last(slice(qkv, 1, keys, keys), kKHeads, dk_),
         split_last(slice(qkv, 1, 2 * keys, kVHeads * dv_), kVHeads, dv_), slice(ab, 1, 0, kVHeads),
         slice(ab, 1, kVHeads, kVHeads), a_log_, dt_bias_,
         sequences_at_slot_2(rig_, batch_of(begin, count, neighbour), 16, 8), state_, k_rows_, u_rows_, g_rows_, out}));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, neighbour + count);
  }
  Bytes state() override {
    Bytes all;
    for (const Tensor& t : {state_, k_rows_, u_rows_, g_rows_}) {
      const Bytes part = slot_2(rig_, t);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  static constexpr int64_t kKHeads = 2, kVHeads = 4;
  int64_t width() const { return 2 * kKHeads * dk_ + kVHeads * dv_; }
  Rig rig_;
  Random noise_{22};
  int64_t dk_, dv_;
  std::vector<float> qkv_, ab_;
  Tensor a_log_, dt_bias_, state_, k_rows_, u_rows_, g_rows_;
};

class AttentionStream final : public Stream {
 public:
  // A softcap comes with sinks.
  AttentionStream(const std::string& device, int threads, DType type, int64_t dim, int32_t window, float softcap = 0)
      : rig_(device, threads), dim_(dim), window_(window), softcap_(softcap) {
    if (softcap > 0) sinks_ = rig_.floats(Random(30).normal(kHeads, 5.0f), {kHeads});
    Random random(31);
    q_ = random.normal(kTokens * kHeads * dim);
    kv_ = random.normal(kTokens * 2 * kKvHeads * dim);
    k_cache_ = rig_.kv_cache(type, 20, 8, kKvHeads, dim);
    v_cache_ = rig_.kv_cache(type, 20, 8, kKvHeads, dim);
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    // Sequence 0 (the neighbour) has even blocks, the sequence under test odd ones.
    const int64_t rows = neighbour + count, half = kKvHeads * dim_;
    const Tensor kv = rows_with_neighbour(rig_, noise_, kv_, 2 * half, begin, count, neighbour);
    const Tensor q = rows_with_neighbour(rig_, noise_, q_, kHeads * dim_, begin, count, neighbour);
    std::vector<int64_t> slots;
    for (int64_t i = 0; i < neighbour; ++i) slots.push_back(i / 8 * 16 + i % 8);
    for (int64_t i = begin; i < begin + count; ++i) slots.push_back(i / 8 * 16 + 8 + i % 8);
    CHECK_OK(ops::reshape_and_cache(
        rig_.encoder(),
        {device::split_last(device::slice(kv, 1, 0, half), kKvHeads, dim_),
         device::split_last(device::slice(kv, 1, half, half), kKvHeads, dim_), rig_.longs(slots), k_cache_, v_cache_}));
    device::SequenceArgs s = make_sequences(rig_, batch_of(begin, count, neighbour), 8, 10);
    std::vector<int32_t> tables;
    for (int32_t b = neighbour > 0 ? 0 : 1; b < 2; ++b)
      for (int32_t i = 0; i < 10; ++i) tables.push_back(2 * i + b);
    s.block_tables = rig_.ints(tables, {static_cast<int64_t>(tables.size() / 10), 10});
    const Tensor out = rig_.zeros(DType::f32, {rows, kHeads, dim_});
    CHECK_OK(ops::paged_attention(rig_.encoder(),
                                  {device::split_last(q, kHeads, dim_), k_cache_, v_cache_, s,
                                   1.0f / std::sqrt(static_cast<float>(dim_)), window_, out, softcap_, sinks_}));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, rows);
  }
  Bytes state() override { return {}; }

 private:
  static constexpr int64_t kHeads = 6, kKvHeads = 2;
  Rig rig_;
  Random noise_{32};
  int64_t dim_;
  int32_t window_;
  float softcap_;
  std::vector<float> q_, kv_;
  Tensor sinks_, k_cache_, v_cache_;
};

enum class Chunks { whole, ones, random };

// Outputs and final state of a stream fed in the given way.
Bytes run(Stream& stream, Chunks chunks, int64_t neighbour, uint64_t start) {
  Random random(start);
  Bytes all;
  for (int64_t begin = 0, count; begin < kTokens; begin += count) {
    count = chunks == Chunks::whole ? kTokens
                                    : (chunks == Chunks::ones ? 1 : std::min(1 + random.below(23), kTokens - begin));
    const Bytes part = stream.step(begin, count, neighbour);
    all.insert(all.end(), part.begin(), part.end());
  }
  const Bytes state = stream.state();
  all.insert(all.end(), state.begin(), state.end());
  return all;
}

// make(device, threads) gives a fresh stream; all ways to feed it must give the same bits on one device.
template <class Make>
void check_stream(const std::string& what, Make make, bool has_kernels = true) {
  const uint64_t start = seed(5);
  for (const std::string& name : device::device_names()) {
    if (!has_kernels && runs_kernels(name)) continue;
    auto whole_stream = make(name, 2);
    const Bytes whole = run(*whole_stream, Chunks::whole, 0, start);
    const struct {
      const char* text;
      Chunks chunks;
      int64_t neighbour;
      int threads;
    } ways[] = {{"one token at a time", Chunks::ones, 0, 1},
                {"random chunks", Chunks::random, 0, 3},
                {"random chunks beside others", Chunks::random, 13, 2},
                {"whole beside others on one thread", Chunks::whole, 21, 1},
                {"whole on four threads", Chunks::whole, 0, 4}};
    for (const auto& way : ways) {
      auto stream = make(name, way.threads);
      if (run(*stream, way.chunks, way.neighbour, start + way.threads) != whole)
        fail(__FILE__, __LINE__, name + " " + what + ": " + way.text + " differs from whole");
    }
  }
}

}  // namespace

PAGODA_TEST(invariance_conv_bits_do_not_depend_on_chunks) {
  check_stream("causal_conv1d",
               [](const std::string& name, int threads) { return std::make_unique<ConvStream>(name, threads); });
}

PAGODA_TEST(invariance_gdn_bits_do_not_depend_on_chunks) {
  for (const auto& [dk, dv] : {std::pair<int64_t, int64_t>{8, 8}, {24, 40}, {64, 96}})
    check_stream("gdn " + std::to_string(dk), [dk = dk, dv = dv](const std::string& name, int threads) {
      return std::make_unique<GdnStream>(name, threads, dk, dv);
    });
}

PAGODA_TEST(invariance_attention_bits_do_not_depend_on_chunks) {
  const struct {
    DType type;
    int64_t dim;
    int32_t window;
    float softcap = 0;
  } rows[] = {{DType::f32, 24, 0},   {DType::f16, 32, 0}, {DType::bf16, 64, 0},      {DType::bf16, 16, 19},
              {DType::bf16, 32, 19}, {DType::i8, 32, 0},  {DType::bf16, 32, 0, 2.0f}};
  for (const auto& row : rows)
    check_stream(
        "paged_attention " + std::to_string(row.dim),
        [&](const std::string& name, int threads) {
          return std::make_unique<AttentionStream>(name, threads, row.type, row.dim, row.window, row.softcap);
        },
        row.type != DType::i8);
}

namespace {

// A filled cache of one sequence of 1100 tokens, and its queries. Attention only reads, so a batch may hold any
// prefixes of the same sequence.
class LongSequence {
 public:
  // A softcap comes with sinks.
  LongSequence(const std::string& device, int threads, DType type, int64_t dim, int32_t window, float softcap = 0)
      : rig_(device, threads), dim_(dim), window_(window), softcap_(softcap) {
    if (softcap > 0) sinks_ = rig_.floats(Random(30).normal(kHeads, 5.0f), {kHeads});
    Random random(51);
    q_ = random.normal(kLength * kHeads * dim);
    k_ = rig_.kv_cache(type, kBlocks, 16, kKvHeads, dim);
    v_ = rig_.kv_cache(type, kBlocks, 16, kKvHeads, dim);
    std::vector<int64_t> slots;
    for (int64_t i = 0; i < kLength; ++i) slots.push_back((kBlocks - 1 - i / 16) * 16 + i % 16);
    const Tensor k = rig_.floats(random.normal(kLength * kKvHeads * dim), {kLength, kKvHeads, dim}),
                 v = rig_.floats(random.normal(kLength * kKvHeads * dim), {kLength, kKvHeads, dim});
    CHECK_OK(ops::reshape_and_cache(rig_.encoder(), {k, v, rig_.longs(slots), k_, v_}));
  }

  // Rows of all pieces of the batch, in order.
  Bytes attend(const Batch& batch) {
    std::vector<float> q;
    std::vector<int32_t> tables;
    for (int64_t b = 0; b < batch.num_sequences(); ++b) {
      const auto first = q_.begin() + batch.cached[b] * kHeads * dim_;
      q.insert(q.end(), first, first + batch.rows[b] * kHeads * dim_);
      for (int32_t i = 0; i < kBlocks; ++i) tables.push_back(kBlocks - 1 - i);
    }
    device::SequenceArgs s = make_sequences(rig_, batch, 16, kBlocks);
    s.block_tables = rig_.ints(tables, {batch.num_sequences(), kBlocks});
    const int64_t rows = batch.num_rows();
    const Tensor out = rig_.zeros(DType::f32, {rows, kHeads, dim_});
    CHECK_OK(ops::paged_attention(
        rig_.encoder(), {rig_.floats(q, {rows, kHeads, dim_}), k_, v_, s, 1.0f / std::sqrt(static_cast<float>(dim_)),
                         window_, out, softcap_, sinks_}));
    CHECK_OK(rig_.finish());
    return rig_.bytes(out);
  }

  // Whether the rows of `batch` are those of `whole`, the outputs of all positions.
  bool gives(const Batch& batch, const Bytes& whole) {
    const size_t row = whole.size() / kLength;
    Bytes wanted;
    for (int64_t b = 0; b < batch.num_sequences(); ++b)
      wanted.insert(wanted.end(), whole.begin() + static_cast<std::ptrdiff_t>(row) * batch.cached[b],
                    whole.begin() + static_cast<std::ptrdiff_t>(row) * (batch.cached[b] + batch.rows[b]));
    return attend(batch) == wanted;
  }

  static constexpr int64_t kLength = 1100;

 private:
  static constexpr int64_t kHeads = 3, kKvHeads = 1;
  static constexpr int32_t kBlocks = 69;
  Rig rig_;
  int64_t dim_;
  int32_t window_;
  float softcap_;
  std::vector<float> q_;
  Tensor sinks_, k_, v_;
};

}  // namespace

PAGODA_TEST(invariance_attention_bits_do_not_depend_on_how_positions_are_split) {
  const Batch one_row_each{{0, 31, 32, 255, 256, 511, 512, 1099}, {1, 1, 1, 1, 1, 1, 1, 1}};
  const Batch mixed{{1099, 4, 300, 256, 1023}, {1, 1, 40, 1, 77}};
  const struct {
    DType type;
    int64_t dim;
    int32_t window;
    float softcap = 0;
  } rows[] = {{DType::f32, 16, 0}, {DType::f16, 24, 0},    {DType::bf16, 32, 0},
              {DType::i8, 32, 0},  {DType::bf16, 32, 300}, {DType::bf16, 32, 300, 2.0f}};
  for (const std::string& name : tested_devices())
    for (const auto& row : rows) {
      if (row.type == DType::i8 && runs_kernels(name)) continue;
      const std::string what = name + " " + std::string(dtype_name(row.type)) + " " + std::to_string(row.dim) + " " +
                               std::to_string(row.window);
      const Bytes whole =
          LongSequence(name, 1, row.type, row.dim, row.window, row.softcap).attend({{0}, {LongSequence::kLength}});
      for (int threads : row.type == DType::bf16 && row.window == 0 ? std::vector{1, 2, 3, 4} : std::vector{1, 16}) {
        LongSequence sequence(name, threads, row.type, row.dim, row.window, row.softcap);
        for (int64_t p : {255, 256, 700, 1099})
          if (!sequence.gives({{p}, {1}}, whole))
            fail(__FILE__, __LINE__, what + ": row " + std::to_string(p) + " alone, " + std::to_string(threads));
        for (const Batch& batch : {one_row_each, mixed, Batch{{1000}, {100}}})
          if (!sequence.gives(batch, whole))
            fail(__FILE__, __LINE__, what + ": in company, " + std::to_string(threads) + " threads");
      }
    }
}

PAGODA_TEST(invariance_matmul_rows_do_not_depend_on_their_number) {
  constexpr int64_t kRows = 100, kN = 70, kK = 530;
  for (const std::string& name : device::device_names())
    for (WeightFormat type :
         {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
      if (name == "reference" && type != WeightFormat::bf16) continue;
      Rig rig(name, 3);
      Random random(seed(41));
      const std::vector<float> values = random.normal(kRows * kK);
      const Tensor x = rig.floats(values, {kRows, kK});
      device::Weight* weight = rig.weight(random.normal(kN * kK), kN, kK, type);
      const Tensor alone = rig.zeros(DType::f32, {kRows, kN}), together = rig.zeros(DType::f32, {kRows, kN});
      for (int64_t m = 0; m < kRows; ++m)
        CHECK_OK(ops::matmul(rig.encoder(), {device::slice(x, 0, m, 1), weight, {}, device::slice(alone, 0, m, 1)}));
      const std::vector<float> wanted = rig.read(alone);
      for (int64_t m = 1; m <= kRows; m = m < 40 ? m + 1 : (m == 40 ? 97 : m + 3)) {
        const int64_t first = random.below(kRows - m + 1);
        const Tensor out = device::slice(together, 0, 0, m);
        CHECK_OK(ops::matmul(rig.encoder(), {device::slice(x, 0, first, m), weight, {}, out}));
        CHECK_OK(rig.finish());
        const std::vector<float> got = rig.read(out);
        if (std::memcmp(got.data(), wanted.data() + first * kN, got.size() * sizeof(float)) != 0)
          fail(__FILE__, __LINE__,
               name + " " + std::string(weight_format_name(type)) + ": " + std::to_string(m) + " rows differ from one");
      }
    }
}

namespace {

// Products of m random rows with a random weight [n][k].
Bytes packed_product(const std::string& name, WeightFormat format, int64_t m, int64_t n, int64_t k) {
  Rig rig(name, 2);
  Random random(seed(61) + static_cast<uint64_t>(m));
  device::Weight* weight = rig.weight(random.normal(n * k), n, k, format);
  const Tensor x = rig.floats(random.normal(m * k), {m, k}), out = rig.zeros(DType::f32, {m, n});
  CHECK_OK(ops::matmul(rig.encoder(), {x, weight, {}, out}));
  CHECK_OK(rig.finish());
  return rig.bytes(out);
}

}  // namespace

// Integer sums are exact, and bf16 has one order of additions. The matrix products of ARM have their own for bf16.
PAGODA_TEST(invariance_packed_paths_give_the_same_bits) {
  std::vector<std::string> paths = tested_devices();
  std::erase(paths, "cpu");  // one of the others
  std::erase_if(paths, runs_kernels);
  Random random(seed(60));
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 33}) {
    const int64_t n = 1 + random.below(70), k = 1 + random.below(530) + (m == 9 ? 1000 : 0);
    for (WeightFormat format : {WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
      const Bytes wanted = packed_product("cpu:portable", format, m, n, k);
      for (const std::string& name : paths) {
        if (format == WeightFormat::bf16 && has_own_bf16_order(name)) continue;
        if (packed_product(name, format, m, n, k) != wanted)
          fail(__FILE__, __LINE__,
               name + " " + std::string(weight_format_name(format)) + " differs from portable: " + std::to_string(m) +
                   " rows, " + std::to_string(n) + " x " + std::to_string(k));
      }
    }
  }
}

// Kernels take a few hundred rows together, and K in chunks. The batch repeats its first rows.
PAGODA_TEST(invariance_matmul_rows_do_not_depend_on_their_place_in_a_long_batch) {
  constexpr int64_t kRows = 530, kDistinct = 25, kN = 5, kK = 1030;
  for (const std::string& name : tested_devices())
    for (WeightFormat format : {WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
      Rig rig(name);
      CHECK_OK(rig.device().reserve({.tokens = kRows, .cols = kK}));
      Random random(seed(62));
      device::Weight* weight = rig.weight(random.normal(kN * kK), kN, kK, format);
      std::vector<float> values = random.normal(kDistinct * kK);
      for (int64_t i = kDistinct * kK; i < kRows * kK; ++i) values.push_back(values[i - kDistinct * kK]);
      const Tensor x = rig.floats(values, {kRows, kK}), all = rig.zeros(DType::f32, {kRows, kN}),
                   few = rig.zeros(DType::f32, {kDistinct, kN});
      CHECK_OK(ops::matmul(rig.encoder(), {x, weight, {}, all}));
      CHECK_OK(ops::matmul(rig.encoder(), {device::slice(x, 0, 0, kDistinct), weight, {}, few}));
      CHECK_OK(rig.finish());
      const std::vector<float> got = rig.read(all), wanted = rig.read(few);
      for (size_t i = 0; i < got.size(); ++i)
        if (got[i] != wanted[i % wanted.size()]) {
          fail(__FILE__, __LINE__,
               name + " " + std::string(weight_format_name(format)) + ": " + std::to_string(i / kN));
          break;
        }
    }
}

// Stronger than R1: machines with fused products agree with each other, whatever their registers are.
PAGODA_TEST(invariance_fused_paths_give_the_same_bits) {
  std::vector<std::string> fused = tested_devices();
  std::erase_if(fused, [](const std::string& name) { return name == "cpu:portable" || runs_kernels(name); });
  std::vector<Bytes> first;
  for (const std::string& name : fused) {
    std::vector<Bytes> got;
    GdnStream gdn(name, 2, 40, 72);
    AttentionStream attention(name, 2, DType::f16, 72, 0), int8_attention(name, 2, DType::i8, 64, 0);
    ConvStream conv(name, 2);
    for (Stream* stream : {static_cast<Stream*>(&gdn), static_cast<Stream*>(&attention),
                           static_cast<Stream*>(&int8_attention), static_cast<Stream*>(&conv)})
      got.push_back(run(*stream, Chunks::random, 0, 6));
    if (first.empty()) first = got;
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != first[i])
        fail(__FILE__, __LINE__, name + " differs from " + fused[0] + " in stream " + std::to_string(i));
  }
}

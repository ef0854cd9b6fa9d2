// ngram_embedding and dilated_conv on every device that has them: close to the reference, the same bits for any split
// into steps, rows taken back, and refusals.
#include "ops/ops.h"

#include <cmath>

#include "device/conformance.h"
#include "device/stream.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

// Row r is r, r + 0.25, ...; reading a row at or after `broken` fails.
class CountingTable final : public device::RowTable {
 public:
  CountingTable(int64_t rows, int64_t cols) : broken(rows), rows_(rows), cols_(cols) {}
  int64_t rows() const noexcept override { return rows_; }
  int64_t cols() const noexcept override { return cols_; }
  Status read(int64_t row, std::span<float> to) const override {
    if (row < 0 || row >= broken) return make_error(StatusCode::bad_file, "the table ends");
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(row) + 0.25f * static_cast<float>(i);
    return ok_status();
  }
  int64_t broken;

 private:
  int64_t rows_, cols_;
};

NgramHash hash_of(int32_t size, int32_t heads) {
  return make_ngram_hash({.vocab_size = 9,
                          .ngram_size = size,
                          .heads_per_ngram = heads,
                          .vocab_base = 40,
                          .row_multiple = 8,
                          .seed = 5,
                          .eos_token_id = 1},
                         0);
}

// Few ids, so that many are the end of a segment.
std::vector<int32_t> random_ids(Random& random, int64_t count) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(random.below(9)));
  return ids;
}

// Both ops of one sequence: ids, and as many channels as the embedding has.
class NgramStream final : public Stream {
 public:
  NgramStream(const std::string& device, int threads, int32_t size, int64_t kernel)
      : rig_(device, threads), hash_(hash_of(size, 2)), table_(hash_.num_rows, 70), size_(size) {
    Random random(91);
    ids_ = random_ids(random, kTokens);
    x_ = random.normal(kTokens * channels());
    weight_ = rig_.floats(random.normal(kernel * channels()), {kernel, channels()});
    tokens_ = rig_.zeros(DType::i32, {3, size - 1 + device::kMaxDrafts});
    tail_ = rig_.zeros(DType::f32, {3, (kernel - 1) * size + device::kMaxDrafts, channels()});
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    const int64_t rows = neighbour + count;
    std::vector<int32_t> ids = random_ids(noise_, neighbour);
    ids.insert(ids.end(), ids_.begin() + begin, ids_.begin() + begin + count - num_wrong);
    for (int64_t i = 0; i < num_wrong; ++i) ids.push_back(static_cast<int32_t>(noise_.below(9)));
    const auto sequences = sequences_at_slot_2(rig_, batch_of(begin, count, neighbour), 16, 8);
    const Tensor rows_of_table = rig_.zeros(DType::f32, {rows, channels()}),
                 out = rig_.zeros(DType::f32, {rows, channels()});
    const Tensor x = rows_with_neighbour(rig_, noise_, x_, channels(), begin, count, neighbour, num_wrong);
    CHECK_OK(
        ops::ngram_embedding(rig_.encoder(), {rig_.ints(ids), tokens_, sequences, &hash_, &table_, rows_of_table}));
    CHECK_OK(ops::dilated_conv(rig_.encoder(), {x, rows_of_table, weight_, size_, tail_, sequences, out}));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, rows);
  }
  Bytes state() override {
    Bytes all = slot_2(rig_, tail_);
    const Bytes tokens = slot_2(rig_, tokens_);
    all.insert(all.end(), tokens.begin(), tokens.end());
    return all;
  }

 private:
  int64_t channels() const { return hash_.num_heads() * table_.cols(); }
  Rig rig_;
  Random noise_{92};
  NgramHash hash_;
  CountingTable table_;
  int32_t size_;
  std::vector<int32_t> ids_;
  std::vector<float> x_;
  Tensor weight_, tokens_, tail_;
};

}  // namespace

PAGODA_TEST(conformance_ngrams) {
  const struct {
    int32_t size, heads;
    int64_t kernel, cols;
  } shapes[] = {{2, 3, 2, 4}, {3, 2, 4, 8}, {5, 1, 3, 70}};
  const Batch first{{0, 0, 0}, {5, 1, 40}}, second{{5, 1, 40}, {1, 3, 17}};
  for (const auto& s : shapes)
    compare(
        "ngrams" + text({s.size, s.heads, s.kernel, s.cols}), kElementwise,
        [&](Rig& rig, Random& random) -> Outputs {
          const NgramHash hash = hash_of(s.size, s.heads);
          const CountingTable table(hash.num_rows, s.cols);
          const int64_t channels = hash.num_heads() * s.cols;
          const Tensor weight = rig.floats(random.normal(s.kernel * channels), {s.kernel, channels});
          // What slots hold before a sequence begins is not read.
          const Tensor tokens = rig.ints(random_ids(random, 5 * 12), {5, 12});
          const Tensor tail = rig.floats(std::vector<float>(5 * 20 * channels, std::nanf("")), {5, 20, channels});
          Outputs outputs;
          for (const Batch* batch : {&first, &second}) {
            const int64_t t = batch->num_rows();
            const auto sequences = make_sequences(rig, *batch, 16, 12);
            const Tensor rows = rig.zeros(DType::f32, {t, channels}),
                         x = rig.floats(random.normal(t * channels), {t, channels});
            const Tensor out = rig.floats(random.normal(t * channels), {t, channels});
            const Tensor ids = rig.ints(random_ids(random, t));
            CHECK_OK(ops::ngram_embedding(rig.encoder(), {ids, tokens, sequences, &hash, &table, rows}));
            CHECK_OK(ops::dilated_conv(rig.encoder(), {x, x, weight, s.size, tail, sequences, out}));
            CHECK_OK(rig.finish());
            outputs.push_back(rig.read(rows));
            outputs.push_back(rig.read(out));
          }
          return outputs;
        },
        Devices::without_kernels);
}

PAGODA_TEST(invariance_ngrams_bits_do_not_depend_on_chunks) {
  for (const auto& [size, kernel] : {std::pair<int32_t, int64_t>{3, 4}, {2, 3}})
    check_stream(
        "ngrams " + std::to_string(size),
        [size = size, kernel = kernel](const std::string& name, int threads) {
          return std::make_unique<NgramStream>(name, threads, size, kernel);
        },
        Devices::without_kernels);
}

PAGODA_TEST(invariance_rows_of_ngrams_can_be_taken_back) {
  check_taking_back(
      "ngrams", [](const std::string& name, int threads) { return std::make_unique<NgramStream>(name, threads, 3, 4); },
      Devices::without_kernels);
}

PAGODA_TEST(ops_ngrams_check_shapes_and_slots) {
  for (const std::string& name : tested_devices()) {
    if (runs_kernels(name)) continue;
    Rig rig(name);
    const NgramHash hash = hash_of(3, 2);
    CountingTable table(hash.num_rows, 4), small(hash.num_rows - 1, 4);
    const auto f = [&](std::initializer_list<int64_t> shape) { return rig.zeros(DType::f32, shape); };
    const auto sequences = make_sequences(rig, {{0, 0}, {1, 2}}, 16, 2);
    const device::NgramEmbeddingArgs good{
        rig.ints({1, 2, 3}), rig.ints({0, 0, 0, 0, 0, 0}, {3, 2}), sequences, &hash, &table, f({3, 16})};
    CHECK_OK(ops::ngram_embedding(rig.encoder(), good));
    CHECK_OK(rig.finish());
    device::NgramEmbeddingArgs wrong = good;
    wrong.table = &small;
    CHECK(!ops::ngram_embedding(rig.encoder(), wrong).is_ok());
    wrong = good;
    wrong.out = f({3, 12});
    CHECK(!ops::ngram_embedding(rig.encoder(), wrong).is_ok());
    wrong = good;
    wrong.tokens = rig.ints({0, 0, 0}, {3, 1});
    CHECK(!ops::ngram_embedding(rig.encoder(), wrong).is_ok());
    wrong = good;
    wrong.tokens = rig.ints({0, 0}, {1, 2});  // the sequences have slots 1 and 2
    CHECK_OK(ops::ngram_embedding(rig.encoder(), wrong));
    CHECK(!rig.finish().is_ok());
    table.broken = 0;  // an error of the file is one of the step
    CHECK_OK(ops::ngram_embedding(rig.encoder(), good));
    const Status broken = rig.finish();
    CHECK(broken.code == StatusCode::bad_file && broken.message == "the table ends");

    const device::DilatedConvArgs conv{f({3, 5}), f({3, 5}), f({4, 5}), 2, f({3, 6, 5}), sequences, f({3, 5})};
    CHECK_OK(ops::dilated_conv(rig.encoder(), conv));
    CHECK_OK(rig.finish());
    for (const auto& [field, tensor] : {std::pair{&device::DilatedConvArgs::value, f({3, 4})},
                                        {&device::DilatedConvArgs::weight, f({4, 4})},
                                        {&device::DilatedConvArgs::tail, f({3, 5, 5})},
                                        {&device::DilatedConvArgs::out, f({2, 5})},
                                        {&device::DilatedConvArgs::out, conv.x}}) {
      device::DilatedConvArgs args = conv;
      args.*field = tensor;
      CHECK(!ops::dilated_conv(rig.encoder(), args).is_ok());
    }
  }
}

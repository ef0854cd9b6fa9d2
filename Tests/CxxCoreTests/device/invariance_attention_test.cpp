// R1 for paged_attention: a row's bits do not depend on how its visible positions are split.
#include <cmath>

#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

using Bytes = std::vector<std::byte>;

// The filled cache of one sequence of 1100 tokens, and its queries. Attention only reads, so a batch may contain any
// prefixes of the same sequence.
class LongSequence {
 public:
  // A softcap implies sinks.
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

  // Rows of all chunks of the batch, in order.
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

  // Whether the rows of `batch` equal those of `whole`, the outputs of all positions.
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

// Runs the same ops with the same numbers on two devices and compares the results.
#include "device/self_test.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/op_list.h"

namespace pagoda::device {
namespace {

// Sizes of a small layer of each kind. A prompt runs kernels for many rows, the token after it those for few.
constexpr int64_t kHidden = 256, kPrompt = 70, kHeads = 4, kHeadDim = 128, kBlockSize = 16, kBlocks = 5;
constexpr int64_t kKeyDim = 128, kValueHeads = 2, kChannels = 2 * kKeyDim + kValueHeads * kKeyDim;
// Relative to the norm of the compared values: a bfloat16 has 8 bits, and a device may round a few sums differently.
constexpr double kTolerance = 2e-2;

struct Output {
  const char* op;
  std::vector<float> values;
};

// One device and the test's data on it.
class Bench {
 public:
  explicit Bench(Device& device) noexcept : device_(device) {}

  Status run() {
    PAGODA_RETURN_IF_ERROR(device_.reserve({.tokens = kPrompt,
                                            .cols = kHidden,
                                            .sequences = 1,
                                            .context = kBlocks * kBlockSize,
                                            .heads = kHeads,
                                            .head_dim = kHeadDim,
                                            .k_heads = 1,
                                            .v_heads = kValueHeads,
                                            .k_dim = kKeyDim}));
    state_ = zeros(DType::f32, {1, kValueHeads, kKeyDim, kKeyDim});
    k_rows_ = zeros(DType::f32, {1, 1, kGdnBlock, kKeyDim});
    u_rows_ = zeros(DType::f32, {1, kValueHeads, kGdnBlock, kKeyDim});
    g_rows_ = zeros(DType::f32, {1, kValueHeads, kGdnBlock});
    for (Tensor& cache : caches_) cache = zeros(DType::bf16, {kBlocks, kBlockSize, 1, kHeadDim});
    weight_ = make_weight(96, kHidden);
    for (const int64_t rows : {kPrompt, int64_t{1}}) {
      const SequenceArgs where = sequences(rows);
      norm_and_product(rows);
      recurrence(rows, where);
      attention(rows, where);
      PAGODA_RETURN_IF_ERROR(status_);
      PAGODA_RETURN_IF_ERROR(device_.encoder().submit().wait());
      for (const auto& [op, tensor] : results_) PAGODA_RETURN_IF_ERROR(read(op, tensor));
      results_.clear();
      position_ += rows;
    }
    return ok_status();
  }
  const std::vector<Output>& outputs() const noexcept { return outputs_; }

 private:
  void norm_and_product(int64_t rows) {
    const Tensor x = numbers({rows, kHidden}, 1), normed = zeros(DType::f32, {rows, kHidden});
    const Tensor product = zeros(DType::f32, {rows, 96}), gated = zeros(DType::f32, {rows, 48});
    if (!status_.is_ok()) return;
    Encoder& encoder = device_.encoder();
    encoder.encode(RmsNormArgs{x, numbers({rows, kHidden}, 1), numbers({kHidden}, 1), 1e-6f, 1.0f, normed});
    encoder.encode(MatmulArgs{normed, weight_.get(), {}, product});
    encoder.encode(MatmulArgs{normed, weight_.get(), {}, gated, true});
    results_.insert(results_.end(), {{"rms_norm", normed}, {"matmul", product}, {"matmul with SiLU", gated}});
  }

  void recurrence(int64_t rows, const SequenceArgs& where) {
    const Tensor qkv = numbers({rows, kChannels}, 1), ab = numbers({rows, 2 * kValueHeads}, 1);
    const Tensor out = zeros(DType::f32, {rows, kValueHeads, kKeyDim});
    const Tensor a_log = numbers({kValueHeads}, 0.5f), bias = numbers({kValueHeads}, 0.5f);
    if (!status_.is_ok()) return;
    device_.encoder().encode(GdnArgs{
        split_last(slice(qkv, 1, 0, kKeyDim), 1, kKeyDim), split_last(slice(qkv, 1, kKeyDim, kKeyDim), 1, kKeyDim),
        split_last(slice(qkv, 1, 2 * kKeyDim, kValueHeads * kKeyDim), kValueHeads, kKeyDim),
        slice(ab, 1, 0, kValueHeads), slice(ab, 1, kValueHeads, kValueHeads), a_log, bias, where, state_, k_rows_,
        u_rows_, g_rows_, out});
    results_.push_back({"gdn", out});
  }

  void attention(int64_t rows, const SequenceArgs& where) {
    const Tensor q = numbers({rows, kHeads, kHeadDim}, 1), out = zeros(DType::f32, {rows, kHeads, kHeadDim});
    const Tensor k = numbers({rows, 1, kHeadDim}, 1), v = numbers({rows, 1, kHeadDim}, 1);
    std::vector<int64_t> slot_indices;
    for (int64_t i = 0; i < rows; ++i) slot_indices.push_back(position_ + i);
    const Tensor slots = upload(DType::i64, {rows}, slot_indices.data(), slot_indices.size() * sizeof(int64_t));
    if (!status_.is_ok()) return;
    Encoder& encoder = device_.encoder();
    encoder.encode(ReshapeAndCacheArgs{k, v, slots, caches_[0], caches_[1]});
    encoder.encode(
        PagedAttentionArgs{q, caches_[0], caches_[1], where, 1.0f / std::sqrt(static_cast<float>(kHeadDim)), 0, out});
    results_.push_back({"paged_attention", out});
  }

  SequenceArgs sequences(int64_t rows) {
    const int32_t cu[] = {0, static_cast<int32_t>(rows)}, context = static_cast<int32_t>(position_ + rows), slot = 0;
    int32_t blocks[kBlocks];
    for (int32_t i = 0; i < kBlocks; ++i) blocks[i] = i;
    return {upload(DType::i32, {2}, cu, sizeof cu), upload(DType::i32, {1}, &context, sizeof context),
            upload(DType::i32, {1, kBlocks}, blocks, sizeof blocks), upload(DType::i32, {1}, &slot, sizeof slot),
            context};
  }

  float next() noexcept {  // uniform in -1 .. 1, the same sequence of numbers for every device
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int32_t>(random_ >> 32)) / 2147483648.0f;
  }
  Tensor numbers(std::initializer_list<int64_t> shape, float scale) {
    std::vector<float> values(static_cast<size_t>(dense(nullptr, DType::f32, shape).num_elements()));
    for (float& v : values) v = scale * next();
    return upload(DType::f32, shape, values.data(), values.size() * sizeof(float));
  }
  Tensor zeros(DType dtype, std::initializer_list<int64_t> shape) {
    Tensor t = dense(nullptr, dtype, shape);
    auto buffer = device_.allocate(static_cast<size_t>(t.num_elements()) * dtype_bytes(dtype), "self-test");
    if (!buffer.is_ok()) {
      if (status_.is_ok()) status_ = buffer.status;
      return t;
    }
    t.buffer = buffer->get();
    buffers_.push_back(std::move(*buffer));
    return t;
  }
  Tensor upload(DType dtype, std::initializer_list<int64_t> shape, const void* from, size_t size_bytes) {
    const Tensor t = zeros(dtype, shape);
    if (status_.is_ok()) status_ = device_.upload(t, from, size_bytes);
    return t;
  }
  std::unique_ptr<Weight> make_weight(int64_t rows, int64_t cols) {
    std::vector<float> values(static_cast<size_t>(rows * cols));
    for (float& v : values) v = next() / 16;
    const auto read_rows = [&](int64_t begin, int64_t count, std::byte* into) {
      std::memcpy(into, values.data() + begin * cols, static_cast<size_t>(count * cols) * sizeof(float));
      return ok_status();
    };
    auto made = device_.make_weight({"self-test", DType::f32, rows, cols, read_rows}, WeightFormat::bf16);
    if (!made.is_ok()) {
      if (status_.is_ok()) status_ = made.status;
      return nullptr;
    }
    return std::move(*made);
  }
  Status read(const char* op, const Tensor& tensor) {
    Output output{op, std::vector<float>(static_cast<size_t>(tensor.num_elements()))};
    PAGODA_RETURN_IF_ERROR(device_.download(tensor, output.values.data(), output.values.size() * sizeof(float)));
    outputs_.push_back(std::move(output));
    return ok_status();
  }

  Device& device_;
  Status status_;
  uint64_t random_ = 1;
  int64_t position_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Weight> weight_;
  Tensor state_, k_rows_, u_rows_, g_rows_, caches_[2];
  std::vector<std::pair<const char*, Tensor>> results_;  // of the step being encoded
  std::vector<Output> outputs_;
};

}  // namespace

Status self_test(Device& tested, Device& trusted) {
  Bench ours(tested), theirs(trusted);
  PAGODA_RETURN_IF_ERROR(theirs.run());
  PAGODA_RETURN_IF_ERROR(ours.run());
  for (size_t i = 0; i < ours.outputs().size(); ++i) {
    const Output &got = ours.outputs()[i], &wanted = theirs.outputs()[i];
    double difference = 0, norm = 0;
    for (size_t j = 0; j < got.values.size(); ++j) {
      const double d = static_cast<double>(got.values[j]) - wanted.values[j];
      difference += d * d;
      norm += static_cast<double>(wanted.values[j]) * wanted.values[j];
    }
    if (!(difference <= kTolerance * kTolerance * norm))  // NaN does not agree
      return make_error(StatusCode::device_error, tested.info().name + " disagrees with " + trusted.info().name +
                                                      " in the self-test of " + got.op);
  }
  return ok_status();
}

}  // namespace pagoda::device

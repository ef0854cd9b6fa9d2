// Fills weights and rows with numbers, and multiplies them.
#include "device/trial_side.h"

#include "base/assign_or_return.h"
#include "device/host/quantise.h"
#include "device/op_list.h"

namespace pagoda::device {

TrialNumbers::TrialNumbers(int64_t cols) : cols_(static_cast<size_t>(cols)), values_(cols_ + kOffsets) {
  uint64_t state = 1;
  for (float& v : values_) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<float>(static_cast<int32_t>(state >> 32)) / 2147483648.0f;
  }
}

void TrialNumbers::copy(int64_t row, float scale, float* to) const {
  const float* from = values_.data() + static_cast<size_t>(row) * 31 % kOffsets;
  for (size_t i = 0; i < cols_; ++i) to[i] = scale * from[i];
}

Result<TrialSide> TrialSide::make(Device& device, const ProductShape& shape, const TrialNumbers& numbers,
                                  std::span<const int64_t> columns, int64_t max_rows, bool is_trusted) {
  const auto kept = static_cast<int64_t>(columns.size()), cols = shape.cols, half = shape.rows / 2;
  TrialSide side(device, shape.silu_mul, kept);
  PAGODA_RETURN_IF_ERROR(device.reserve({.tokens = max_rows, .cols = cols}));
  const bool is_rounded = is_trusted && is_quantised(shape.format);
  const auto read_rows = [&](int64_t begin, int64_t count, std::byte* into) {
    for (int64_t i = begin; i < begin + count; ++i, into += cols * static_cast<int64_t>(sizeof(float))) {
      auto* row = reinterpret_cast<float*>(into);
      numbers.copy(columns[static_cast<size_t>(i % kept)] + i / kept * half, 1.0f / 16, row);
      if (is_rounded && !host::round_in_groups(shape.format, {row, static_cast<size_t>(cols)}))
        return make_error(StatusCode::internal, "a number of the trial is not finite");
    }
    return ok_status();
  };
  const int64_t rows = shape.silu_mul ? 2 * kept : kept;
  PAGODA_ASSIGN_OR_RETURN(side.weight_, device.make_weight({"trial", DType::f32, rows, cols, read_rows},
                                                           is_rounded ? WeightFormat::f32 : shape.format));
  PAGODA_ASSIGN_OR_RETURN(side.x_, side.floats(max_rows, cols));
  PAGODA_ASSIGN_OR_RETURN(side.out_, side.floats(max_rows, kept));
  constexpr int64_t kFirst = 1000;  // rows of x are different segments from the first rows of the weight
  std::vector<float> x(static_cast<size_t>(max_rows * cols));
  for (int64_t i = 0; i < max_rows; ++i) numbers.copy(kFirst + i % kDistinct, 1.0f, &x[static_cast<size_t>(i * cols)]);
  PAGODA_RETURN_IF_ERROR(device.upload(side.x_, x.data(), x.size() * sizeof(float)));
  return side;
}

Status TrialSide::multiply(int64_t rows, int times) {
  for (int i = 0; i < times; ++i)
    device_->encoder().encode(MatmulArgs{slice(x_, 0, 0, rows), weight_.get(), {}, slice(out_, 0, 0, rows), silu_mul_});
  return device_->encoder().submit().wait();
}

Status TrialSide::multiply(int64_t rows, std::vector<float>& out) {
  PAGODA_RETURN_IF_ERROR(multiply(rows));
  out.assign(static_cast<size_t>(rows * width_), 0.0f);
  return device_->download(slice(out_, 0, 0, rows), out.data(), out.size() * sizeof(float));
}

Result<Tensor> TrialSide::floats(int64_t rows, int64_t cols) {
  Tensor t = dense(nullptr, DType::f32, {rows, cols});
  PAGODA_ASSIGN_OR_RETURN(auto buffer, device_->allocate(static_cast<size_t>(rows * cols) * sizeof(float), "trial"));
  t.buffer = buffer.get();
  buffers_.push_back(std::move(buffer));
  return t;
}

}  // namespace pagoda::device

// Fills weights and rows with numbers, and multiplies them.
#include "device/trial/trial_side.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/assign_or_return.h"
#include "base/dtype.h"
#include "base/quant/stored_row.h"
#include "device/host/quantise.h"
#include "device/op_list.h"

namespace pagoda::device {
namespace {

// Codes and scales of a row from the bits of its numbers: a format of files that the device keeps, so that scales have
// 16 or 8 bits. None is infinite.
void fill_stored(const QuantFormat& f, std::span<const float> numbers, const StoredRow& to) {
  const auto byte = [&](size_t i) { return std::bit_cast<uint32_t>(numbers[i % numbers.size()]) >> 3 & 255; };
  const auto put = [&](std::byte* at, size_t i, size_t from, ScaleType type) {
    const uint32_t most = type == ScaleType::nibbles ? 15 : type == ScaleType::e8m0 ? 127 : 255;
    const float number = numbers[from % numbers.size()];
    const uint32_t bits = type == ScaleType::f16    ? f32_to_f16(number)
                          : type == ScaleType::bf16 ? f32_to_bf16(number)
                                                    : byte(from) & most;
    const size_t size = type == ScaleType::f16 || type == ScaleType::bf16 ? 2 : 1;
    for (size_t b = 0; b < size; ++b) at[size * i + b] = static_cast<std::byte>(bits >> 8 * b & 255);
  };
  for (size_t i = 0; i < numbers.size(); ++i) to.codes[i] = static_cast<uint8_t>(byte(i) & ((1u << f.bits) - 1));
  for (size_t g = 0; g < numbers.size() / static_cast<size_t>(f.group); ++g) {
    put(to.scales, g, 31 * g, f.scale);
    if (f.has_zeros) to.mins[g] = static_cast<std::byte>(byte(31 * g + 7) & ((1u << f.bits) - 1));
    else if (f.has_min) put(to.mins, g, 31 * g + 7, f.scale);
  }
  for (size_t s = 0; f.super > 0 && s < numbers.size() / static_cast<size_t>(f.super); ++s) {
    put(to.supers, s, 31 * s + 3, ScaleType::f16);
    if (f.has_min) put(to.super_mins, s, 31 * s + 5, ScaleType::f16);
  }
}

}  // namespace

TrialNumbers::TrialNumbers(int64_t cols, int exponents) : cols_(static_cast<size_t>(cols)), values_(cols_ + kOffsets) {
  uint64_t state = 1;
  for (float& v : values_) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<float>(static_cast<int32_t>(state >> 32)) / 2147483648.0f;
    if (exponents > 0) v = std::ldexp(v, -static_cast<int>((state >> 20) % static_cast<uint64_t>(exponents + 1)));
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
  WeightSource source{"trial", DType::f32, rows, cols, read_rows};
  if (is_stored(shape.format))
    source.read_stored = [&](int64_t begin, int64_t count, std::span<std::byte> into) {
      const QuantFormat& format = quant_format(shape.format);
      std::vector<float> row(static_cast<size_t>(cols));
      for (int64_t i = 0; i < count; ++i) {
        numbers.copy(columns[static_cast<size_t>((begin + i) % kept)], 1.0f / 16, row.data());
        fill_stored(format, row,
                    stored_row(format, cols, &into[static_cast<size_t>(i) * stored_row_bytes(format, cols)]));
      }
      return ok_status();
    };
  PAGODA_ASSIGN_OR_RETURN(side.weight_, device.make_weight(source, is_rounded ? WeightFormat::f32 : shape.format));
  PAGODA_ASSIGN_OR_RETURN(side.x_, side.floats(max_rows, cols));
  PAGODA_ASSIGN_OR_RETURN(side.out_, side.floats(max_rows, kept));
  constexpr int64_t kFirst = 1000;  // rows of x are different segments from the first rows of the weight
  std::vector<float> x(static_cast<size_t>(max_rows * cols));
  for (int64_t i = 0; i < max_rows; ++i) numbers.copy(kFirst + i % kDistinct, 1.0f, &x[static_cast<size_t>(i * cols)]);
  PAGODA_RETURN_IF_ERROR(device.upload(side.x_, x.data(), x.size() * sizeof(float)));
  return side;
}

Status TrialSide::set_rows(std::span<const float> x) { return device_->upload(x_, x.data(), x.size_bytes()); }

Result<double> TrialSide::best_seconds(int64_t rows, int times, const TrialOptions& options) {
  double best = 0;
  for (int round = -1; round < options.rounds; ++round) {
    const double begin = options.seconds();
    PAGODA_RETURN_IF_ERROR(multiply(rows, times));
    const double took = options.seconds() - begin;
    best = round <= 0 ? took : std::min(best, took);
  }
  return best;
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

// Loading of weights into padded rows, with conversion between f32, f16 and bf16.
#include "device/host/host_weight.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "base/checked.h"
#include "device/host/host_memory.h"

namespace pagoda::device::host {
namespace {

constexpr int64_t kPieceBytes = int64_t{4} << 20;

bool is_weight_type(DType dtype) noexcept { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

int64_t padded(int64_t cols) noexcept { return (cols + kRowPadding - 1) / kRowPadding * kRowPadding; }

float load(const std::byte* from, DType dtype, int64_t i) noexcept {
  if (dtype == DType::f32) {
    float value;
    std::memcpy(&value, from + i * 4, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, from + i * 2, 2);
  return dtype == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

// False when a finite number became an infinity.
bool convert_row(const std::byte* from, DType from_type, int64_t count, DType to_type, std::byte* to) noexcept {
  if (from_type == to_type) {
    std::memcpy(to, from, static_cast<size_t>(count) * dtype_bytes(to_type));
    return true;
  }
  bool fits = true;
  for (int64_t i = 0; i < count; ++i) {
    const float value = load(from, from_type, i);
    if (to_type == DType::f32) {
      std::memcpy(to + i * 4, &value, 4);
      continue;
    }
    const uint16_t bits = to_type == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
    std::memcpy(to + i * 2, &bits, 2);
    const uint16_t infinity = to_type == DType::f16 ? 0x7c00 : 0x7f80;
    fits = fits && ((bits & 0x7fff) != infinity || std::isinf(value));
  }
  return fits;
}

Status check_source(const WeightSource& source, DType stored) {
  const std::string who = "weight " + source.name + ": ";
  if (!is_weight_type(source.dtype) || !is_weight_type(stored))
    return make_error(StatusCode::unsupported, who + "cannot keep " + std::string(dtype_name(source.dtype)) + " as " +
                                                   std::string(dtype_name(stored)) +
                                                   "; known are float32, float16, bfloat16");
  if (source.rows < 1 || source.cols < 1 || !source.read_rows)
    return make_error(StatusCode::invalid_argument, who + "has no elements or no reader");
  uint64_t elements, bytes;
  if (source.cols > INT64_MAX - kRowPadding || !checked_multiply(source.rows, padded(source.cols), elements) ||
      !checked_multiply(elements, 8, bytes) || bytes > INT64_MAX)
    return make_error(StatusCode::invalid_argument, who + std::to_string(source.rows) + " x " +
                                                        std::to_string(source.cols) + " elements are too many");
  return ok_status();
}

Status read_into(const WeightSource& source, DType stored, std::byte* to) {
  const int64_t row_bytes = source.cols * static_cast<int64_t>(dtype_bytes(source.dtype));
  const int64_t stored_bytes = padded(source.cols) * static_cast<int64_t>(dtype_bytes(stored));
  const int64_t piece = std::max<int64_t>(1, std::min(source.rows, kPieceBytes / row_bytes));
  const bool in_place = source.dtype == stored && row_bytes == stored_bytes;
  std::vector<std::byte> rows(in_place ? 0 : static_cast<size_t>(piece * row_bytes));
  for (int64_t begin = 0; begin < source.rows; begin += piece) {
    const int64_t count = std::min(piece, source.rows - begin);
    PAGODA_RETURN_IF_ERROR(source.read_rows(begin, count, in_place ? to + begin * stored_bytes : rows.data()));
    for (int64_t i = 0; i < count && !in_place; ++i)
      if (!convert_row(rows.data() + i * row_bytes, source.dtype, source.cols, stored, to + (begin + i) * stored_bytes))
        return make_error(StatusCode::unsupported, "weight " + source.name + ": row " + std::to_string(begin + i) +
                                                       " has a number too large for " +
                                                       std::string(dtype_name(stored)));
  }
  return ok_status();
}

}  // namespace

HostWeight::HostWeight(std::unique_ptr<Buffer> buffer, int64_t rows, int64_t cols, DType dtype) noexcept
    : buffer_(std::move(buffer)),
      data_(buffer_->host_pointer()),
      rows_(rows),
      cols_(cols),
      row_stride_(padded(cols)),
      dtype_(dtype) {}

size_t weight_bytes(int64_t rows, int64_t cols, DType stored) noexcept {
  return static_cast<size_t>(rows) * static_cast<size_t>(padded(cols)) * dtype_bytes(stored);
}

Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, DType stored) {
  PAGODA_RETURN_IF_ERROR(check_source(source, stored));
  auto buffer = make_buffer(weight_bytes(source.rows, source.cols, stored), "weight " + source.name);
  if (!buffer.is_ok()) return buffer.status;
  PAGODA_RETURN_IF_ERROR(read_into(source, stored, (*buffer)->host_pointer()));
  return std::unique_ptr<Weight>(new HostWeight(std::move(*buffer), source.rows, source.cols, stored));
}

void to_f32(const std::byte* from, DType dtype, int64_t count, float* to) noexcept {
  for (int64_t i = 0; i < count; ++i) to[i] = load(from, dtype, i);
}

}  // namespace pagoda::device::host

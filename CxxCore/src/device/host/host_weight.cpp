// Loads weights into padded rows, converting between f32, f16 and bf16.
#include "device/host/host_weight.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "base/assign_or_return.h"
#include "base/checked.h"
#include "base/concat.h"
#include "base/quant/stored_row.h"
#include "device/host/host_memory.h"
#include "device/host/quantise.h"
#include "device/host/row_tasks.h"

namespace pagoda::device::host {
namespace {

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

// Returns false if a finite number became infinite.
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

// The numbers of a stored weight, as floats.
Status read_stored_into(const WeightSource& source, WeightFormat format, std::byte* to) {
  const QuantFormat& f = quant_format(format);
  std::vector<std::byte> row(stored_row_bytes(f, source.cols));
  for (int64_t i = 0; i < source.rows; ++i, to += padded(source.cols) * 4) {
    PAGODA_RETURN_IF_ERROR(source.read_stored(i, 1, row));
    dequantise(f, stored_row(f, source.cols, row.data()), source.cols, reinterpret_cast<float*>(to));
  }
  return source.rows_done ? source.rows_done(source.rows) : ok_status();
}

constexpr DType element_type(WeightFormat format) noexcept {
  return format == WeightFormat::f16 ? DType::f16 : format == WeightFormat::bf16 ? DType::bf16 : DType::f32;
}

// Rounds floats to the values that a quantised row would represent.
bool round_to(WeightFormat format, std::span<float> row) {
  const size_t size = (row.size() + kColumnPadding - 1) / kColumnPadding * kColumnPadding;
  const int64_t block = rotation_block(static_cast<int64_t>(size));
  std::vector<float> rotated(size);
  std::copy(row.begin(), row.end(), rotated.begin());
  rotate(rotated, block);
  float scale;
  if (format == WeightFormat::q8) {
    std::vector<int8_t> values(size);
    if (!quantise_8bit(rotated, values.data(), scale)) return false;
    for (size_t i = 0; i < size; ++i) rotated[i] = values[i];
  } else {
    std::vector<uint8_t> values(size);
    std::vector<Steps> steps(size / kStepGroup);
    if (!quantise_4bit(rotated, values.data(), steps.data(), scale)) return false;
    for (size_t i = 0; i < size; ++i) {
      const Steps s = steps[i / kStepGroup];
      rotated[i] = static_cast<float>(s.step * values[i] + s.offset - 128);
    }
  }
  rotate(rotated, block);
  for (size_t i = 0; i < row.size(); ++i) row[i] = rotated[i] * (scale / static_cast<float>(block));
  return true;
}

Status read_into(const WeightSource& source, WeightFormat format, ThreadPool* pool, std::byte* to) {
  const DType stored = element_type(format);
  const int64_t row_bytes = source.cols * static_cast<int64_t>(dtype_bytes(source.dtype));
  const int64_t stored_bytes = padded(source.cols) * static_cast<int64_t>(dtype_bytes(stored));
  const bool in_place = source.dtype == stored && row_bytes == stored_bytes;
  const RowTasks tasks(source, row_bytes, 1, pool);
  std::vector<std::vector<std::byte>> buffers(static_cast<size_t>(tasks.num_threads()));
  for (auto& of_thread : buffers) of_thread.resize(in_place ? 0 : static_cast<size_t>(tasks.max_rows() * row_bytes));
  return tasks.run([&](int64_t first, int64_t count, int thread) -> Status {
    std::byte *const rows = buffers[static_cast<size_t>(thread)].data(), *const place = to + first * stored_bytes;
    PAGODA_RETURN_IF_ERROR(source.read_rows(first, count, in_place ? place : rows));
    for (int64_t i = 0; i < count; ++i) {
      std::byte* const row = place + i * stored_bytes;
      if (!in_place && !convert_row(rows + i * row_bytes, source.dtype, source.cols, stored, row))
        return does_not_fit(source, first + i, format);
      if (is_quantised(format) && !round_to(format, {reinterpret_cast<float*>(row), static_cast<size_t>(source.cols)}))
        return does_not_fit(source, first + i, format);
    }
    return ok_status();
  });
}

}  // namespace

HostWeight::HostWeight(std::unique_ptr<Buffer> buffer, int64_t rows, int64_t cols, DType dtype) noexcept
    : buffer_(std::move(buffer)),
      data_(buffer_->host_pointer()),
      rows_(rows),
      cols_(cols),
      row_stride_(padded(cols)),
      dtype_(dtype) {}

static Status check_size(const WeightSource& source, bool has_reader) {
  const std::string who = "weight " + source.name + ": ";
  if (source.rows < 1 || source.cols < 1 || !has_reader)
    return make_error(StatusCode::invalid_argument, who + "has no elements or no reader");
  constexpr int64_t kMostPadding = 127;  // upper bound for the padding of rows or columns in any format
  uint64_t elements, bytes;
  if (source.rows > INT64_MAX - kMostPadding || source.cols > INT64_MAX - kMostPadding ||
      !checked_multiply(source.rows + kMostPadding, source.cols + kMostPadding, elements) ||
      !checked_multiply(elements, 8, bytes) || bytes > INT64_MAX)
    return make_error(StatusCode::invalid_argument,
                      concat(who, source.rows, " x ", source.cols, " elements are too many"));
  return ok_status();
}

Status check_source(const WeightSource& source) {
  if (!is_weight_type(source.dtype))
    return make_error(StatusCode::unsupported, "weight " + source.name + ": is " +
                                                   std::string(dtype_name(source.dtype)) +
                                                   "; known are float32, float16, bfloat16");
  return check_size(source, source.read_rows != nullptr);
}

Status check_stored_source(const WeightSource& source, WeightFormat format) {
  PAGODA_RETURN_IF_ERROR(check_size(source, source.read_stored != nullptr));
  const int unit = quant_format(format).unit();
  if (source.cols % unit == 0) return ok_status();
  return make_error(StatusCode::bad_file,
                    concat("weight ", source.name, ": rows of ", source.cols, " columns are not a multiple of ", unit,
                           ", as ", weight_format_name(format), " requires"));
}

Result<std::unique_ptr<Weight>> join_weights(std::span<const std::unique_ptr<Weight>> pieces) {
  int64_t rows = 0;
  const int64_t cols = pieces.front()->cols();
  for (const auto& piece : pieces) rows += piece->rows();
  PAGODA_ASSIGN_OR_RETURN(auto buffer, make_buffer(weight_bytes(rows, cols, WeightFormat::f32), "joined weight"));
  auto joined = std::make_unique<HostWeight>(std::move(buffer), rows, cols, DType::f32);
  float* to = reinterpret_cast<float*>(const_cast<std::byte*>(joined->row(0)));
  for (const auto& piece : pieces) {
    const auto& from = static_cast<const HostWeight&>(*piece);
    for (int64_t i = 0; i < from.rows(); ++i, to += joined->row_stride()) to_f32(from.row(i), from.dtype(), cols, to);
  }
  return std::unique_ptr<Weight>(std::move(joined));
}

size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) noexcept {
  return static_cast<size_t>(rows) * static_cast<size_t>(padded(cols)) * dtype_bytes(element_type(format));
}

Status does_not_fit(const WeightSource& source, int64_t row, WeightFormat format) {
  return make_error(StatusCode::unsupported, concat("weight ", source.name, ": row ", row, " has a number that ",
                                                    weight_format_name(format), " cannot hold"));
}

Status fill_weight(const WeightSource& source, WeightFormat format, ThreadPool* pool, std::byte* to) {
  return is_stored(format) ? read_stored_into(source, format, to) : read_into(source, format, pool, to);
}

Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, WeightFormat format, ThreadPool* pool) {
  PAGODA_RETURN_IF_ERROR(is_stored(format) ? check_stored_source(source, format) : check_source(source));
  PAGODA_ASSIGN_OR_RETURN(auto buffer,
                          make_buffer(weight_bytes(source.rows, source.cols, format), "weight " + source.name));
  PAGODA_RETURN_IF_ERROR(fill_weight(source, format, pool, buffer->host_pointer()));
  return std::unique_ptr<Weight>(new HostWeight(std::move(buffer), source.rows, source.cols, element_type(format)));
}

void to_f32(const std::byte* from, DType dtype, int64_t count, float* to) noexcept {
  for (int64_t i = 0; i < count; ++i) to[i] = load(from, dtype, i);
}

}  // namespace pagoda::device::host

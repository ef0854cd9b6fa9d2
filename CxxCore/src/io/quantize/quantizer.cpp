// Streams rows through the affine rounding; threads share the rows of a chunk.
#include "io/quantize/quantizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "base/assign_or_return.h"
#include "base/quoted.h"
#include "io/tensor_decoder.h"

namespace pagoda::io {
namespace {

constexpr uint64_t kChunkBytes = 16 << 20;

void to_float(DType dtype, const std::byte* bytes, std::span<float> out) noexcept {
  if (dtype == DType::f32) return void(std::memcpy(out.data(), bytes, out.size_bytes()));
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, 2);
    out[i] = dtype == DType::bf16 ? bf16_to_f32(bits) : f16_to_f32(bits);
  }
}

void append_float(DType dtype, float value, std::vector<std::byte>& out) {
  const uint16_t half = dtype == DType::bf16 ? f32_to_bf16(value) : f32_to_f16(value);
  const auto* bytes =
      dtype == DType::f32 ? reinterpret_cast<const std::byte*>(&value) : reinterpret_cast<const std::byte*>(&half);
  out.insert(out.end(), bytes, bytes + dtype_bytes(dtype));
}

bool are_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

Status not_finite(const QuantizeTask& task) {
  return make_error(StatusCode::bad_file, "tensor " + io::quoted(task.name) + " has a number that is not finite");
}

uint64_t element_count(const TensorEntry& entry) {
  uint64_t count = 1;
  for (const int64_t size : entry.shape) count *= static_cast<uint64_t>(size);
  return count;
}

}  // namespace

Status Quantizer::write_shard(const QuantizeShard& shard, const std::string& path) {
  PAGODA_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(path, shard.tensors));
  for (const QuantizeTask& task : shard.tasks) {
    if (task.bits > 0) PAGODA_RETURN_IF_ERROR(quantize(task, writer));
    else PAGODA_RETURN_IF_ERROR(task.entry.decoder ? decode(task, writer) : copy(task.entry, writer));
  }
  return writer.commit();
}

Status Quantizer::read(const TensorEntry& entry, uint64_t begin, uint64_t count) {
  bytes_.resize(count);
  PAGODA_RETURN_IF_ERROR(checkpoint_.read(entry, begin, bytes_));
  return proceed(count);
}

// After `count` more bytes of the input.
Status Quantizer::proceed(uint64_t count) {
  done_bytes_ += count;
  const double fraction =
      static_cast<double>(done_bytes_) / static_cast<double>(std::max<uint64_t>(plan_.input_bytes, 1));
  return go_on_(fraction) ? ok_status() : make_error(StatusCode::cancelled, "cancelled");
}

Status Quantizer::copy(const TensorEntry& entry, SafetensorsWriter& writer) {
  for (uint64_t begin = 0; begin < entry.size_bytes; begin += kChunkBytes) {
    PAGODA_RETURN_IF_ERROR(read(entry, begin, std::min(kChunkBytes, entry.size_bytes - begin)));
    PAGODA_RETURN_IF_ERROR(writer.write(bytes_));
  }
  return ok_status();
}

// Writes a tensor as its decoder gives it, in chunks of whole rows.
Status Quantizer::decode(const QuantizeTask& task, SafetensorsWriter& writer) {
  const uint64_t columns = static_cast<uint64_t>(task.entry.shape.back());
  const uint64_t rows = element_count(task.entry) / std::max<uint64_t>(columns, 1);
  const uint64_t rows_per_chunk = std::max<uint64_t>(kChunkBytes / (4 * columns + 1), 1);
  std::vector<float> values;
  std::vector<std::byte> out;
  for (uint64_t row = 0; row < rows; row += rows_per_chunk) {
    values.resize(std::min(rows_per_chunk, rows - row) * columns);
    PAGODA_RETURN_IF_ERROR(task.entry.decoder->read(row * columns, values));
    if (!are_finite(values)) return not_finite(task);
    out.clear();
    for (const float value : values) append_float(task.dtype, value, out);
    PAGODA_RETURN_IF_ERROR(writer.write(out));
  }
  return proceed(task.entry.size_bytes);
}

Status Quantizer::quantize(const QuantizeTask& task, SafetensorsWriter& writer) {
  const TensorEntry& entry = task.entry;
  const uint64_t rows = static_cast<uint64_t>(entry.shape[0]), columns = static_cast<uint64_t>(entry.shape[1]);
  const uint64_t rows_per_chunk = std::max<uint64_t>(kChunkBytes / (dtype_bytes(entry.dtype) * columns), 1);
  std::vector<std::byte> scales, biases;
  for (uint64_t row = 0; row < rows; row += rows_per_chunk) {
    const uint64_t count = std::min(rows_per_chunk, rows - row);
    // Rows with a decoder have no fixed size in the file.
    const uint64_t begin = entry.size_bytes * row / rows, end = entry.size_bytes * (row + count) / rows;
    PAGODA_RETURN_IF_ERROR(entry.decoder ? proceed(end - begin) : read(entry, begin, end - begin));
    PAGODA_RETURN_IF_ERROR(quantize_rows(task, row, count));
    PAGODA_RETURN_IF_ERROR(writer.write(std::as_bytes(std::span(words_))));
    for (const AffineGroup& group : groups_) {
      append_float(task.dtype, group.scale, scales);
      append_float(task.dtype, group.bias, biases);
    }
  }
  PAGODA_RETURN_IF_ERROR(writer.write(scales));
  return writer.write(biases);
}

// Quantises `count` rows from `first` on: decoded, or from bytes_, which starts with that row.
Status Quantizer::quantize_rows(const QuantizeTask& task, uint64_t first, uint64_t count) {
  const TensorEntry& entry = task.entry;
  const size_t columns = static_cast<size_t>(entry.shape[1]);
  const size_t words = columns * static_cast<size_t>(task.bits) / 32;
  const size_t groups = columns / static_cast<size_t>(plan_.group_size);
  words_.resize(count * words);
  groups_.resize(count * groups);
  for (std::vector<float>& row : row_) row.resize(columns);
  std::vector<Status> failures(row_.size());  // per thread: the last one
  pool_.parallel_for(static_cast<int64_t>(count), [&](int64_t index, int thread) {
    const size_t i = static_cast<size_t>(index);
    std::vector<float>& row = row_[thread];
    Status status = ok_status();
    if (entry.decoder) status = entry.decoder->read((first + i) * columns, row);
    else to_float(entry.dtype, bytes_.data() + i * columns * dtype_bytes(entry.dtype), row);
    if (status.is_ok() && !are_finite(row)) status = not_finite(task);
    if (!status.is_ok()) return void(failures[thread] = std::move(status));
    quantize_row(row, task.bits, plan_.group_size, words_.data() + i * words, groups_.data() + i * groups);
  });
  for (Status& failure : failures) PAGODA_RETURN_IF_ERROR(std::move(failure));
  return ok_status();
}

}  // namespace pagoda::io

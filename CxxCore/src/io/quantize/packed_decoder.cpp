// Decodes rows of packed codes, or splits them into codes and scales.
#include "io/quantize/packed_decoder.h"

#include <algorithm>
#include <cmath>

#include "base/quant/stored_row.h"
#include "io/quantize/stored.h"

#pragma clang fp contract(off)

namespace pagoda::io {
namespace {

// Rounds to `dtype`: MLX computes in the type of the scales.
float round_to(DType dtype, float value) noexcept {
  if (dtype == DType::f32) return value;
  return dtype == DType::f16 ? f16_to_f32(f32_to_f16(value)) : bf16_to_f32(f32_to_bf16(value));
}

}  // namespace

// Reads many rows at once: the experts of a 35B model have 31 million of them.
Status PackedDecoder::read(uint64_t begin, std::span<float> into) const {
  if (into.empty()) return ok_status();
  const uint64_t group = static_cast<uint64_t>(packing_.group), scale_rows = packing_.mode == Mode::fp8 ? group : 1;
  const uint64_t row_bytes = cols_ * static_cast<uint64_t>(packing_.bits) / 8;
  const uint64_t scale_bytes = (cols_ + group - 1) / group * dtype_bytes(scales_.entry.dtype);
  const uint64_t end = (begin + into.size()) / cols_, at_once = std::max<uint64_t>(1, (1 << 18) / row_bytes);
  std::vector<std::byte> packed, scales, biases;
  for (uint64_t first = begin / cols_, count = 0; first < end; first += count) {
    count = std::min(at_once, end - first);
    const uint64_t first_scale = first / scale_rows, num_scales = (first + count - 1) / scale_rows - first_scale + 1;
    PAGODA_RETURN_IF_ERROR(weight_.read(first, count, row_bytes, packed, kSpareBytes));
    PAGODA_RETURN_IF_ERROR(scales_.read(first_scale, num_scales, scale_bytes, scales));
    if (biases_) PAGODA_RETURN_IF_ERROR(biases_->read(first, count, scale_bytes, biases));
    for (uint64_t row = first; row < first + count; ++row) {
      const uint64_t scale_at = (row / scale_rows - first_scale) * scale_bytes;
      decode_row(packed.data() + (row - first) * row_bytes, scales.data() + scale_at,
                 biases_ ? biases.data() + scale_at : nullptr, into.subspan(row * cols_ - begin, cols_));
    }
  }
  return ok_status();
}

std::optional<WeightFormat> PackedDecoder::stored_format() const {
  if (packing_.mode == Mode::mxfp4) return weight_format(QuantId::mxfp4);
  if (packing_.mode == Mode::nvfp4) return weight_format(QuantId::nvfp4);
  const bool has_blocks =
      cols_ % static_cast<uint64_t>(packing_.group) == 0;  // of fp8: otherwise the last one is cut off
  if (packing_.mode == Mode::fp8) return has_blocks ? std::optional(weight_format(QuantId::fp8)) : std::nullopt;
  return packing_.mode == Mode::affine ? affine_format(packing_.bits, packing_.group, scales_.entry.dtype)
                                       : std::nullopt;
}

Status PackedDecoder::read_stored(uint64_t first, uint64_t count, std::span<std::byte> into) const {
  if (packing_.mode == Mode::fp8) return read_float8(first, count, into);
  const QuantFormat& format = quant_format(*stored_format());
  const uint64_t row_bytes = cols_ * static_cast<uint64_t>(packing_.bits) / 8;
  const uint64_t scale_bytes = cols_ / static_cast<uint64_t>(packing_.group) * dtype_bytes(scales_.entry.dtype);
  std::vector<std::byte> packed, scales, biases;
  PAGODA_RETURN_IF_ERROR(weight_.read(first, count, row_bytes, packed, kSpareBytes));
  PAGODA_RETURN_IF_ERROR(scales_.read(first, count, scale_bytes, scales));
  if (biases_) PAGODA_RETURN_IF_ERROR(biases_->read(first, count, scale_bytes, biases));
  for (uint64_t i = 0; i < count; ++i) {
    const StoredRow row = stored_row(format, static_cast<int64_t>(cols_), into.data() + i * (into.size() / count));
    unpack_codes(packed.data() + i * row_bytes, packing_.bits, cols_, row.codes);
    std::memcpy(row.scales, scales.data() + i * scale_bytes, scale_bytes);
    if (biases_) std::memcpy(row.mins, biases.data() + i * scale_bytes, scale_bytes);
  }
  return ok_status();
}

// Requires columns of whole blocks.
Status PackedDecoder::read_float8(uint64_t first, uint64_t count, std::span<std::byte> into) const {
  const DType dtype = scales_.entry.dtype;
  const uint64_t block = static_cast<uint64_t>(packing_.group), groups = cols_ / block, first_scale = first / block;
  std::vector<std::byte> scales;
  PAGODA_RETURN_IF_ERROR(
      scales_.read(first_scale, (first + count - 1) / block - first_scale + 1, groups * dtype_bytes(dtype), scales));
  std::vector<std::byte> codes;
  PAGODA_RETURN_IF_ERROR(weight_.read(first, count, cols_, codes));
  for (const std::byte code : codes)
    if ((code & std::byte{127}) == std::byte{127}) return make_error(StatusCode::bad_file, "contains NaN");
  for (uint64_t i = 0; i < count; ++i) {
    const StoredRow row = stored_row(quant_format(weight_format(QuantId::fp8)), static_cast<int64_t>(cols_),
                                     into.data() + i * (into.size() / count));
    std::memcpy(row.codes, codes.data() + i * cols_, cols_);
    const std::byte* from = scales.data() + ((first + i) / block - first_scale) * groups * dtype_bytes(dtype);
    for (uint64_t g = 0; g < groups; ++g) {
      const float scale = widen(dtype, from + g * dtype_bytes(dtype));
      std::memcpy(row.scales + g * 4, &scale, 4);
    }
  }
  return ok_status();
}

void PackedDecoder::decode_row(const std::byte* packed, const std::byte* scales, const std::byte* biases,
                               std::span<float> row) const noexcept {
  constexpr float kFloat4[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  const DType dtype = scales_.entry.dtype;
  const size_t bits = static_cast<size_t>(packing_.bits);
  for (size_t i = 0; i < row.size(); ++i) {
    const size_t bit = i * bits, group = i / static_cast<size_t>(packing_.group);
    const int pair = std::to_integer<int>(packed[bit / 8]) | std::to_integer<int>(packed[bit / 8 + 1]) << 8;
    const int q = pair >> (bit % 8) & ((1 << bits) - 1);
    const float float4 = q & 8 ? -kFloat4[q & 7] : kFloat4[q & 7];
    if (packing_.mode == Mode::mxfp4) {
      row[i] = std::ldexp(float4, std::to_integer<int>(scales[group]) - 127);
      continue;
    }
    if (packing_.mode == Mode::nvfp4) {
      row[i] = float4 * f8_e4m3_to_f32(std::to_integer<uint8_t>(scales[group]));
      continue;
    }
    const float scale = widen(dtype, scales + group * dtype_bytes(dtype));
    if (packing_.mode == Mode::fp8) row[i] = f8_e4m3_to_f32(static_cast<uint8_t>(q)) * scale;
    else
      row[i] = round_to(
          dtype, round_to(dtype, static_cast<float>(q) * scale) + widen(dtype, biases + group * dtype_bytes(dtype)));
  }
}

}  // namespace pagoda::io

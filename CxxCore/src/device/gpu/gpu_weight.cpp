// Packs weights for the kernels, in chunks through host memory.
#include "device/gpu/gpu_weight.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/host/host_weight.h"
#include "device/host/quantise.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kRowTile = 64;     // rows per threadgroup of matmul_tiles
constexpr int64_t kColumnTile = 64;  // columns that it processes at a time
constexpr int64_t kChunkBytes = int64_t{4} << 20;

int64_t round_up(int64_t n, int64_t to) noexcept { return (n + to - 1) / to * to; }

// Buffers for one chunk of rows on its way to the device.
struct Chunk {
  std::vector<std::byte> source, packed, steps;
  std::vector<float> row, scales;
  std::vector<uint8_t> nibbles;
};

// Returns false if a finite number became infinite.
bool pack_16bit(std::span<const float> row, WeightFormat format, std::byte* to) noexcept {
  const uint16_t infinity = format == WeightFormat::f16 ? 0x7c00 : 0x7f80;
  bool fits = true;
  for (size_t i = 0; i < row.size(); ++i) {
    const uint16_t bits = format == WeightFormat::f16 ? f32_to_f16(row[i]) : f32_to_bf16(row[i]);
    std::memcpy(to + 2 * i, &bits, 2);
    fits = fits && ((bits & 0x7fff) != infinity || std::isinf(row[i]));
  }
  return fits;
}

bool pack_4bit(Chunk& chunk, std::span<const float> row, std::byte* to, host::Steps* steps, float& scale) {
  chunk.nibbles.assign(chunk.row.size(), 0);
  if (!host::quantise_4bit(row, chunk.nibbles.data(), steps, scale)) return false;
  const uint8_t* from = chunk.nibbles.data();
  for (size_t i = 0; i < chunk.nibbles.size(); i += 8, from += 8)  // in the order 0, 2, 4, 6, 1, 3, 5, 7
    for (const size_t odd : {0, 1}) {
      *to++ = static_cast<std::byte>(from[odd] | from[odd + 2] << 4);
      *to++ = static_cast<std::byte>(from[odd + 4] | from[odd + 6] << 4);
    }
  return true;
}

// Sign and magnitude, in the order 0, 2, 1, 3.
bool pack_8bit(std::span<const float> row, std::byte* to, uint8_t* shifts, float& scale) {
  if (!host::quantise_8bit_groups(row, reinterpret_cast<int8_t*>(to), shifts, scale)) return false;
  for (size_t i = 0; i < row.size(); i += 4) {
    std::swap(to[i + 1], to[i + 2]);
    for (size_t j = i; j < i + 4; ++j) {
      const auto value = static_cast<int8_t>(to[j]);
      if (value < 0) to[j] = static_cast<std::byte>(128 - value);
    }
  }
  return true;
}

// Bytes per row of steps and offsets (4 bits) or shifts (8 bits).
int64_t step_bytes(WeightFormat format, int64_t padded_cols) noexcept {
  const int64_t per_group = format == WeightFormat::q4 ? int64_t{sizeof(host::Steps)} : format == WeightFormat::q8;
  return padded_cols / host::kStepGroup * per_group;
}

// Packs chunk.row, `cols` columns and then zeros, into row `index` of the chunk. The zeros do not affect the scales of
// groups.
bool pack_row(Chunk& chunk, int64_t cols, WeightFormat format, const WeightLayout& layout, int64_t index) {
  const std::span<const float> row = std::span(chunk.row).first(static_cast<size_t>(cols));
  std::byte* to = chunk.packed.data() + index * layout.row_bytes;
  const size_t at = static_cast<size_t>(index);
  if (is_quantised(format)) std::fill_n(to, layout.row_bytes, std::byte{0});
  std::byte* steps = chunk.steps.data() + index * step_bytes(format, layout.padded_cols);
  switch (format) {
    case WeightFormat::f32: std::memcpy(to, chunk.row.data(), static_cast<size_t>(layout.row_bytes)); return true;
    case WeightFormat::q8: return pack_8bit(row, to, reinterpret_cast<uint8_t*>(steps), chunk.scales[at]);
    case WeightFormat::q4: return pack_4bit(chunk, row, to, reinterpret_cast<host::Steps*>(steps), chunk.scales[at]);
    default: return pack_16bit(chunk.row, format, to);
  }
}

Status upload_chunk(Backend& backend, Buffer& buffer, const Chunk& chunk, WeightFormat format,
                    const WeightLayout& layout, int64_t begin, int64_t count) {
  PAGODA_RETURN_IF_ERROR(backend.upload(buffer, begin * layout.row_bytes, chunk.packed.data(),
                                        static_cast<size_t>(count * layout.row_bytes)));
  if (!is_quantised(format)) return ok_status();
  const int64_t row_steps = step_bytes(format, layout.padded_cols);
  PAGODA_RETURN_IF_ERROR(backend.upload(buffer, layout.steps_offset + begin * row_steps, chunk.steps.data(),
                                        static_cast<size_t>(count * row_steps)));
  return backend.upload(buffer, layout.scales_offset + begin * int64_t{sizeof(float)}, chunk.scales.data(),
                        static_cast<size_t>(count) * sizeof(float));
}

Status fill(Backend& backend, Buffer& buffer, const WeightSource& source, WeightFormat format,
            const WeightLayout& layout) {
  const int64_t source_bytes = source.cols * static_cast<int64_t>(dtype_bytes(source.dtype));
  const int64_t most = std::clamp<int64_t>(kChunkBytes / source_bytes, 1, source.rows);
  Chunk chunk;
  chunk.source.resize(static_cast<size_t>(most * source_bytes));
  chunk.packed.resize(static_cast<size_t>(most * layout.row_bytes));
  chunk.steps.resize(static_cast<size_t>(most * step_bytes(format, layout.padded_cols)));
  chunk.scales.resize(static_cast<size_t>(most));
  for (int64_t begin = 0; begin < source.rows; begin += most) {
    const int64_t count = std::min(most, source.rows - begin);
    PAGODA_RETURN_IF_ERROR(source.read_rows(begin, count, chunk.source.data()));
    for (int64_t i = 0; i < count; ++i) {
      chunk.row.assign(static_cast<size_t>(layout.padded_cols), 0.0f);
      host::to_f32(chunk.source.data() + i * source_bytes, source.dtype, source.cols, chunk.row.data());
      if (!pack_row(chunk, source.cols, format, layout, i))
        return make_error(StatusCode::unsupported,
                          concat("weight ", source.name, ": row ", begin + i, " has a number that ",
                                 weight_format_name(format), " cannot hold"));
    }
    PAGODA_RETURN_IF_ERROR(upload_chunk(backend, buffer, chunk, format, layout, begin, count));
  }
  return ok_status();
}

}  // namespace

WeightLayout weight_layout(int64_t rows, int64_t cols, WeightFormat format) noexcept {
  WeightLayout layout;
  layout.padded_rows = round_up(rows, kRowTile);
  layout.padded_cols = round_up(cols, kColumnTile);
  const int64_t bits = format == WeightFormat::f32  ? 32
                       : format == WeightFormat::q8 ? 8
                       : format == WeightFormat::q4 ? 4
                                                    : 16;
  layout.row_bytes = layout.padded_cols * bits / 8;
  layout.steps_offset = layout.padded_rows * layout.row_bytes;
  layout.scales_offset = layout.steps_offset + layout.padded_rows * step_bytes(format, layout.padded_cols);
  layout.size_bytes = layout.scales_offset + (is_quantised(format) ? layout.padded_rows * int64_t{sizeof(float)} : 0);
  return layout;
}

Result<std::unique_ptr<Weight>> make_weight(Backend& backend, const WeightSource& source, WeightFormat format) {
  PAGODA_RETURN_IF_ERROR(host::check_source(source));
  const WeightLayout layout = weight_layout(source.rows, source.cols, format);
  PAGODA_ASSIGN_OR_RETURN(auto buffer,
                          backend.allocate(static_cast<size_t>(layout.size_bytes), "weight " + source.name));
  if (backend.runs_launches()) PAGODA_RETURN_IF_ERROR(fill(backend, *buffer, source, format, layout));
  return std::unique_ptr<Weight>(new GpuWeight(std::move(buffer), source.rows, source.cols, format));
}

}  // namespace pagoda::device::gpu

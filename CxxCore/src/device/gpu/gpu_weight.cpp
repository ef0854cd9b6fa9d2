// Packing of weights for the kernels, piece by piece through host memory.
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

constexpr int64_t kRowTile = 64;     // rows that a threadgroup of matmul_tiles takes
constexpr int64_t kColumnTile = 64;  // columns that it takes at a time
constexpr int64_t kPieceBytes = int64_t{4} << 20;

int64_t round_up(int64_t n, int64_t to) noexcept { return (n + to - 1) / to * to; }

// Room for one piece of rows on its way to the device.
struct Piece {
  std::vector<std::byte> source, packed, steps;
  std::vector<float> row, scales;
  std::vector<uint8_t> nibbles;
};

// False when a finite number became an infinity.
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

bool pack_4bit(Piece& piece, std::byte* to, host::Steps* steps, float& scale) {
  piece.nibbles.resize(piece.row.size());
  if (!host::quantise_4bit(piece.row, piece.nibbles.data(), steps, scale)) return false;
  for (size_t i = 0; i < piece.nibbles.size(); i += 2)
    to[i / 2] = static_cast<std::byte>(piece.nibbles[i] | piece.nibbles[i + 1] << 4);
  return true;
}

// piece.row, padded with zeros, to row `index` of the piece.
bool pack_row(Piece& piece, WeightFormat format, const WeightLayout& layout, int64_t index) {
  std::byte* to = piece.packed.data() + index * layout.row_bytes;
  const size_t at = static_cast<size_t>(index);
  if (is_quantised(format)) host::rotate(piece.row, host::rotation_block(layout.padded_cols));
  switch (format) {
    case WeightFormat::f32: std::memcpy(to, piece.row.data(), static_cast<size_t>(layout.row_bytes)); return true;
    case WeightFormat::q8: return host::quantise_8bit(piece.row, reinterpret_cast<int8_t*>(to), piece.scales[at]);
    case WeightFormat::q4: {
      auto* steps = reinterpret_cast<host::Steps*>(piece.steps.data()) + at * piece.row.size() / host::kStepGroup;
      return pack_4bit(piece, to, steps, piece.scales[at]);
    }
    default: return pack_16bit(piece.row, format, to);
  }
}

Status put_piece(Backend& backend, Buffer& buffer, const Piece& piece, WeightFormat format, const WeightLayout& layout,
                 int64_t begin, int64_t count) {
  PAGODA_RETURN_IF_ERROR(backend.upload(buffer, begin * layout.row_bytes, piece.packed.data(),
                                        static_cast<size_t>(count * layout.row_bytes)));
  const int64_t steps_bytes = layout.padded_cols / host::kStepGroup * int64_t{sizeof(host::Steps)};
  if (format == WeightFormat::q4)
    PAGODA_RETURN_IF_ERROR(backend.upload(buffer, layout.steps_offset + begin * steps_bytes, piece.steps.data(),
                                          static_cast<size_t>(count * steps_bytes)));
  if (is_quantised(format))
    PAGODA_RETURN_IF_ERROR(backend.upload(buffer, layout.scales_offset + begin * int64_t{sizeof(float)},
                                          piece.scales.data(), static_cast<size_t>(count) * sizeof(float)));
  return ok_status();
}

Status fill(Backend& backend, Buffer& buffer, const WeightSource& source, WeightFormat format,
            const WeightLayout& layout) {
  const int64_t source_bytes = source.cols * static_cast<int64_t>(dtype_bytes(source.dtype));
  const int64_t most = std::clamp<int64_t>(kPieceBytes / source_bytes, 1, source.rows);
  Piece piece;
  piece.source.resize(static_cast<size_t>(most * source_bytes));
  piece.packed.resize(static_cast<size_t>(most * layout.row_bytes));
  piece.steps.resize(static_cast<size_t>(most * layout.padded_cols / host::kStepGroup) * sizeof(host::Steps));
  piece.scales.resize(static_cast<size_t>(most));
  for (int64_t begin = 0; begin < source.rows; begin += most) {
    const int64_t count = std::min(most, source.rows - begin);
    PAGODA_RETURN_IF_ERROR(source.read_rows(begin, count, piece.source.data()));
    for (int64_t i = 0; i < count; ++i) {
      piece.row.assign(static_cast<size_t>(layout.padded_cols), 0.0f);
      host::to_f32(piece.source.data() + i * source_bytes, source.dtype, source.cols, piece.row.data());
      if (!pack_row(piece, format, layout, i))
        return make_error(StatusCode::unsupported,
                          concat("weight ", source.name, ": row ", begin + i, " has a number that ",
                                 weight_format_name(format), " cannot hold"));
    }
    PAGODA_RETURN_IF_ERROR(put_piece(backend, buffer, piece, format, layout, begin, count));
  }
  return ok_status();
}

}  // namespace

WeightLayout weight_layout(int64_t rows, int64_t cols, WeightFormat format) noexcept {
  WeightLayout layout;
  layout.padded_rows = round_up(rows, kRowTile);
  layout.padded_cols = round_up(cols, is_quantised(format) ? host::kColumnPadding : kColumnTile);
  const int64_t bits = format == WeightFormat::f32  ? 32
                       : format == WeightFormat::q8 ? 8
                       : format == WeightFormat::q4 ? 4
                                                    : 16;
  layout.row_bytes = layout.padded_cols * bits / 8;
  layout.steps_offset = layout.padded_rows * layout.row_bytes;
  layout.scales_offset = layout.steps_offset;
  if (format == WeightFormat::q4)
    layout.scales_offset += layout.padded_rows * layout.padded_cols / host::kStepGroup * int64_t{sizeof(host::Steps)};
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

// Chooses the format of every row of a group, and reads rows in the format of their file.
#include "model/weights/pieces.h"

#include <algorithm>
#include <cstring>

#include "base/quant/stored_row.h"

namespace pagoda::model {
namespace {

WeightFormat format_in_file(const WeightGroup& group, const WeightGroup::Part& part) {
  const io::TensorEntry& tensor = *part.tensor;
  if (!tensor.decoder) return weight_format(tensor.dtype);
  const WeightFormat format = tensor.decoder->stored_format().value_or(WeightFormat::q8);
  const bool is_whole = part.matrix_rows == 0 && tensor.shape.size() > 1 && tensor.shape.back() == group.cols &&
                        (!is_stored(format) || group.cols % quant_format(format).unit() == 0);
  return is_stored(format) && !is_whole ? WeightFormat::q8 : format;
}

// Whether rows of the group are only multiplied, never looked up, and never combined with other rows.
bool is_plain(Role role) noexcept {
  for (const Role other :
       {Role::embedding, Role::mlp_in, Role::experts_in, Role::experts_out, Role::latent_k, Role::latent_v})
    if (role == other) return false;
  return true;
}

void append(std::vector<WeightPiece>& pieces, WeightFormat format, int64_t rows) {
  if (!pieces.empty() && pieces.back().format == format) pieces.back().rows += rows;
  else pieces.push_back({format, pieces.empty() ? 0 : pieces.back().first_row + pieces.back().rows, rows});
}

// Rows [first, first + count) of a part, in the requested order.
Status read_part(const WeightGroup::Part& part, int64_t first, int64_t count, size_t row_bytes, std::byte* to) {
  const auto stored = [&](int64_t row) -> int64_t {  // -1: a row of zeros
    if (part.row_order.empty()) return part.first_row + row;
    const int64_t wanted = part.row_order[static_cast<size_t>(row)];
    return wanted < 0 ? -1 : part.first_row + wanted;
  };
  for (int64_t done = 0, run = 1; done < count; done += run, run = 1) {
    const int64_t from = stored(first + done);
    std::byte* at = to + static_cast<size_t>(done) * row_bytes;
    if (from < 0) {
      std::memset(at, 0, row_bytes);
      continue;
    }
    while (done + run < count && stored(first + done + run) == from + run) ++run;
    PAGODA_RETURN_IF_ERROR(part.tensor->decoder->read_stored(static_cast<uint64_t>(from), static_cast<uint64_t>(run),
                                                             {at, static_cast<size_t>(run) * row_bytes}));
  }
  return ok_status();
}

}  // namespace

std::vector<WeightPiece> pieces_of(const WeightGroup& group, WeightFormat format, const device::Device& device) {
  const auto whole = [&](WeightFormat one) { return std::vector<WeightPiece>{{one, 0, group.rows}}; };
  if (group.role == Role::router) return whole(WeightFormat::f32);
  if (format != WeightFormat::stored) return whole(format);
  std::vector<WeightPiece> in_file, pieces;
  for (const WeightGroup::Part& part : group.parts) append(in_file, format_in_file(group, part), part.rows);
  for (const WeightPiece& piece : in_file)
    if (is_stored(piece.format) && !device.keeps_format(piece.format)) return whole(WeightFormat::q8);
  if (in_file.size() == 1) return in_file;
  if (!device.joins_weights(is_plain(group.role))) return whole(WeightFormat::q8);
  const auto is_float8 = [](const WeightPiece& piece) { return piece.format == weight_format(QuantId::fp8); };
  const bool has_float8 = std::ranges::any_of(in_file, is_float8);
  if (has_float8 && !is_plain(group.role)) return whole(WeightFormat::q8);
  for (const WeightPiece& piece : in_file) {
    if (piece.format == WeightFormat::q8) return whole(WeightFormat::q8);
    // Rows have one form of activations: 8-bit floats take others than integers do.
    if (has_float8 && is_stored(piece.format) && !is_float8(piece)) return whole(WeightFormat::q8);
    append(pieces, is_stored(piece.format) ? piece.format : WeightFormat::f32, piece.rows);
  }
  for (const WeightPiece& piece : pieces)
    if (piece.first_row % device::kPieceRows != 0) return whole(WeightFormat::q8);
  return pieces;
}

int64_t piece_bytes(const WeightGroup& group, WeightFormat format, const device::Device& device) {
  int64_t total = 0;
  for (const WeightPiece& piece : pieces_of(group, format, device))
    total += static_cast<int64_t>(device.weight_bytes(piece.rows, group.cols, piece.format));
  return total;
}

Status read_stored_rows(const WeightGroup& group, const QuantFormat& format, int64_t begin, int64_t count,
                        std::span<std::byte> into) {
  const size_t row_bytes = stored_row_bytes(format, group.cols);
  int64_t part_begin = 0;
  for (const WeightGroup::Part& part : group.parts) {
    const int64_t first = std::max(begin, part_begin), last = std::min(begin + count, part_begin + part.rows);
    if (first < last)
      PAGODA_RETURN_IF_ERROR(with_name(part, read_part(part, first - part_begin, last - first, row_bytes,
                                                       into.data() + static_cast<size_t>(first - begin) * row_bytes)));
    part_begin += part.rows;
  }
  return ok_status();
}

}  // namespace pagoda::model

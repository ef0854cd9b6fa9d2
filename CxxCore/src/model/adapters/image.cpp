// Reads the pairs of a file one by one; pieces of a pair share its A.
#include "model/adapters/image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "io/lora/lora_config.h"

namespace pagoda::model {
namespace {

static_assert(io::kMaxLoraRank == device::kMaxAdapterRank);

// Rows of B [out, rank] -> [rank, rows], in the order of the weight, times the scale. False if one is infinite then.
bool append_b(const io::LoraPair& pair, const AdapterPiece& piece, std::span<const int32_t> row_order, const float* b,
              std::vector<float>& values) {
  for (int64_t r = 0; r < pair.rank; ++r)
    for (int64_t n = 0; n < piece.num_rows; ++n) {
      const int64_t row = piece.first_row + (row_order.empty() ? n : row_order[static_cast<size_t>(n)]);
      const double value = pair.scale * b[row * pair.rank + r];
      if (!(std::abs(value) <= std::numeric_limits<float>::max())) return false;
      values.push_back(static_cast<float>(value));
    }
  return true;
}

int64_t num_matrices(const io::LoraPair& pair) noexcept { return std::max<int64_t>(1, pair.num_experts); }

}  // namespace

Result<int64_t> image_size(const AdapterLayout& layout, const io::LoraFile& file) {
  int64_t size = 0;
  std::vector<std::array<int64_t, 3>> changed;  // target, expert, part
  for (const io::LoraPair& stored : file.pairs()) {
    PAGODA_ASSIGN_OR_RETURN(const AdapterPlace place, layout.place(stored, file.file_name()));
    size += num_matrices(place.pair) * place.pair.rank * (place.pair.in + place.pair.out);
    for (const AdapterPiece& piece : place.pieces)
      for (int64_t e = 0; e < num_matrices(place.pair); ++e)
        changed.push_back({piece.target, piece.expert + e, piece.part});
  }
  std::ranges::sort(changed);
  if (const auto twice = std::ranges::adjacent_find(changed); twice != changed.end())
    return make_error(StatusCode::bad_file,
                      concat(file.file_name(), ": changes a projection of layer ",
                             layout.targets()[static_cast<size_t>((*twice)[0])].layer_index, " twice"));
  return size;
}

Result<AdapterImage> make_image(const AdapterLayout& layout, const io::LoraFile& file) {
  PAGODA_ASSIGN_OR_RETURN(const int64_t size, image_size(layout, file));
  AdapterImage image;
  image.values.reserve(static_cast<size_t>(size));
  Hash128 hash;
  for (const io::LoraPair& stored : file.pairs()) {
    PAGODA_ASSIGN_OR_RETURN(const auto place, layout.place(stored, file.file_name()));
    const io::LoraPair& pair = place.pair;
    PAGODA_ASSIGN_OR_RETURN(const std::vector<float> a, file.read_a(pair));
    PAGODA_ASSIGN_OR_RETURN(const std::vector<float> b, file.read_b(pair));
    const auto a_size = pair.rank * pair.in, b_size = pair.rank * pair.out;
    for (int64_t e = 0; e < num_matrices(pair); ++e) {
      const auto a_begin = static_cast<int64_t>(image.values.size());
      image.values.insert(image.values.end(), a.begin() + e * a_size, a.begin() + (e + 1) * a_size);
      for (const AdapterPiece& piece : place.pieces) {
        const AdapterTarget& target = layout.targets()[static_cast<size_t>(piece.target)];
        image.entries.push_back({.target = piece.target,
                                 .part = piece.part,
                                 .expert = piece.expert + e,
                                 .a = a_begin,
                                 .b = static_cast<int64_t>(image.values.size()),
                                 .rank = pair.rank});
        if (!append_b(pair, piece, target.parts[static_cast<size_t>(piece.part)].row_order, b.data() + e * b_size,
                      image.values))
          return make_error(StatusCode::bad_file,
                            concat(file.file_name(), ": ", pair.module, " times its scale is infinite"));
      }
    }
    image.max_rank = std::max(image.max_rank, pair.rank);
    hash.add(pair.name);
    hash.add(static_cast<uint64_t>(place.pieces.front().target));
    hash.add(static_cast<uint64_t>(pair.rank));
  }
  hash.add(std::as_bytes(std::span(image.values)));
  image.identity = hash.value();
  return image;
}

}  // namespace pagoda::model

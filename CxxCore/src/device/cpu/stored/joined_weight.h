// The pieces of a range of rows of a weight, which may be a JoinedWeight.
#pragma once

#include <algorithm>

#include "device/joined_weight.h"

namespace pagoda::device::cpu {

// Calls body(piece, first of its rows, count, rows of the range before them) for each piece of rows [begin, begin +
// count).
template <class Body>
void over_pieces(const Weight& weight, int64_t begin, int64_t count, Body&& body) {
  if (weight.format() != WeightFormat::stored) return body(weight, begin, count, int64_t{0});
  int64_t first_row = 0;
  for (const auto& piece : weight.pieces()) {
    const int64_t from = std::max(begin, first_row), to = std::min(begin + count, first_row + piece->rows());
    if (from < to) body(*piece, from - first_row, to - from, from - begin);
    first_row += piece->rows();
  }
}

}  // namespace pagoda::device::cpu

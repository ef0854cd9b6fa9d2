// JoinedWeight: a matrix whose rows come from weights of several formats, all stored ones or floats. Every piece but
// the last has a multiple of 16 rows.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"

namespace pagoda::device::cpu {

class JoinedWeight final : public Weight {
 public:
  explicit JoinedWeight(std::vector<std::unique_ptr<Weight>> pieces) noexcept : pieces_(std::move(pieces)) {
    for (const auto& piece : pieces_) rows_ += piece->rows();
  }
  int64_t rows() const noexcept override { return rows_; }
  int64_t cols() const noexcept override { return pieces_.front()->cols(); }
  WeightFormat format() const noexcept override { return WeightFormat::stored; }
  size_t size_bytes() const noexcept override {
    size_t total = 0;
    for (const auto& piece : pieces_) total += piece->size_bytes();
    return total;
  }
  std::span<const std::byte> bytes() const noexcept override { return {}; }
  std::span<const std::unique_ptr<Weight>> pieces() const noexcept override { return pieces_; }

 private:
  std::vector<std::unique_ptr<Weight>> pieces_;
  int64_t rows_ = 0;
};

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

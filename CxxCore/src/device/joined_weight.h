// JoinedWeight: a matrix whose rows come from weights of several formats, all stored ones or floats. Every piece but
// the last has a multiple of kPieceRows rows.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"

namespace pagoda::device {

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

}  // namespace pagoda::device

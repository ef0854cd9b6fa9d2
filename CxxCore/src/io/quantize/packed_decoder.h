// PackedDecoder: rows of MLX's and FP8's tensors, as floats or as they are stored.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "io/safetensors/safetensors.h"
#include "io/tensor_decoder.h"
#include "io/tensor_entry.h"

namespace pagoda::io {

enum class Mode : uint8_t { affine, mxfp4, nvfp4, fp8 };

struct Packing {
  Mode mode = Mode::affine;
  int bits = 4;
  int64_t group = 64;  // columns per scale; for fp8: rows and columns per block
};

inline float widen(DType dtype, const std::byte* at) noexcept {
  if (dtype == DType::f32) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return dtype == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

struct TensorSource {  // a stored tensor
  std::shared_ptr<File> file;
  TensorEntry entry;
  // Reads rows [first, first + count) of `bytes` bytes each, plus `spare` bytes after them.
  Status read(uint64_t first, uint64_t count, uint64_t bytes, std::vector<std::byte>& into, size_t spare = 0) const {
    into.resize(count * bytes + spare);
    return file->read(entry.offset_bytes + first * bytes, std::span(into).first(count * bytes));
  }
};

class PackedDecoder final : public TensorDecoder {
 public:
  PackedDecoder(Packing packing, uint64_t cols, TensorSource weight, TensorSource scales,
                std::optional<TensorSource> biases)
      : packing_(packing),
        cols_(cols),
        weight_(std::move(weight)),
        scales_(std::move(scales)),
        biases_(std::move(biases)) {}

  Status read(uint64_t begin, std::span<float> into) const override;
  std::optional<WeightFormat> stored_format() const override;
  Status read_stored(uint64_t first, uint64_t count, std::span<std::byte> into) const override;

 private:
  Status read_float8(uint64_t first, uint64_t count, std::span<std::byte> into) const;
  void decode_row(const std::byte* packed, const std::byte* scales, const std::byte* biases,
                  std::span<float> row) const noexcept;

  Packing packing_;
  uint64_t cols_;
  TensorSource weight_, scales_;
  std::optional<TensorSource> biases_;
};

}  // namespace pagoda::io

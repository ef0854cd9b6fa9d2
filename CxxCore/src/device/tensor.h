// Tensor: a typed, strided, non-owning view of device memory; the currency of all ops.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/dtype.h"

namespace pagoda::device {

// A block of device memory, allocated and freed by its Device.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual size_t size_bytes() const noexcept = 0;
  virtual std::byte* host_pointer() noexcept = 0;  // null when the host cannot see this memory
};

constexpr int kMaxRank = 4;

struct Tensor {
  Buffer* buffer = nullptr;  // null: an absent optional argument
  int64_t offset_bytes = 0;
  DType dtype = DType::f32;
  int rank = 0;
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> strides{};  // in elements; the last is 1 unless an op says otherwise

  bool is_present() const noexcept { return buffer != nullptr; }
  int64_t num_elements() const noexcept {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= shape[i];
    return n;
  }
};

// A dense view of `buffer` starting at `offset_bytes`, last dimension fastest.
inline Tensor dense(Buffer* buffer, DType dtype, std::initializer_list<int64_t> shape,
                    int64_t offset_bytes = 0) noexcept {
  Tensor t;
  t.buffer = buffer;
  t.offset_bytes = offset_bytes;
  t.dtype = dtype;
  t.rank = static_cast<int>(shape.size());
  int i = 0;
  for (int64_t n : shape) t.shape[i++] = n;
  int64_t stride = 1;
  for (i = t.rank - 1; i >= 0; --i) {
    t.strides[i] = stride;
    stride *= t.shape[i];
  }
  return t;
}

// The range [begin, begin + count) of dimension `dim`.
inline Tensor slice(Tensor t, int dim, int64_t begin, int64_t count) noexcept {
  t.offset_bytes += begin * t.strides[dim] * static_cast<int64_t>(dtype_bytes(t.dtype));
  t.shape[dim] = count;
  return t;
}

// Splits the last dimension (dense) into [outer, inner].
inline Tensor split_last(Tensor t, int64_t outer, int64_t inner) noexcept {
  t.shape[t.rank - 1] = outer;
  t.strides[t.rank - 1] = inner;
  t.shape[t.rank] = inner;
  t.strides[t.rank] = 1;
  ++t.rank;
  return t;
}

template <class T>
T* host_data(const Tensor& t) noexcept {
  return reinterpret_cast<T*>(t.buffer->host_pointer() + t.offset_bytes);
}

}  // namespace pagoda::device

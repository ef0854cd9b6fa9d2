// Addresses of elements in host-visible tensors, by index and stride.
#pragma once

#include "device/tensor.h"

namespace pagoda::device::host {

template <class T>
T* at(const Tensor& t, int64_t i) noexcept {
  return host_data<T>(t) + i * t.strides[0];
}

template <class T>
T* at(const Tensor& t, int64_t i, int64_t j) noexcept {
  return host_data<T>(t) + i * t.strides[0] + j * t.strides[1];
}

template <class T>
T* at(const Tensor& t, int64_t i, int64_t j, int64_t k) noexcept {
  return host_data<T>(t) + i * t.strides[0] + j * t.strides[1] + k * t.strides[2];
}

// Bytes per slot of a pool [slots, ...], which is dense after the first dimension.
inline int64_t slot_bytes(const Tensor& pool) noexcept {
  int64_t bytes = static_cast<int64_t>(dtype_bytes(pool.dtype));
  for (int i = 1; i < pool.rank; ++i) bytes *= pool.shape[i];
  return bytes;
}

inline std::byte* slot_at(const Tensor& pool, int64_t slot) noexcept {
  return host_data<std::byte>(pool) + slot * pool.strides[0] * static_cast<int64_t>(dtype_bytes(pool.dtype));
}

}  // namespace pagoda::device::host

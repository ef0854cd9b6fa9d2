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

}  // namespace pagoda::device::host

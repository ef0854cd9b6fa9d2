// The state matrix of one head in the oracles of gdn and kda: float or bfloat16 in memory, double while it is computed.
#pragma once

#include <span>

#include "device/op_args.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

class StateHead {
 public:
  StateHead(const Tensor& pool, int64_t slot, int64_t head) noexcept
      : data_(host_data<std::byte>(pool)),
        dtype_(pool.dtype),
        first_(slot * pool.strides[0] + head * pool.strides[1]) {}

  // s: [dk, dv]
  void load_into(std::span<double> s, int64_t dk, int64_t dv) const noexcept {
    for (int64_t d = 0; d < dk; ++d)
      for (int64_t j = 0; j < dv; ++j)
        s[static_cast<size_t>(d * dv + j)] = load(data_, dtype_, first_ + gdn_state_index(d, j, dk, dv));
  }
  void store_from(std::span<const double> s, int64_t dk, int64_t dv) const noexcept {
    for (int64_t d = 0; d < dk; ++d)
      for (int64_t j = 0; j < dv; ++j)
        store(data_, dtype_, first_ + gdn_state_index(d, j, dk, dv),
              static_cast<float>(s[static_cast<size_t>(d * dv + j)]));
  }

 private:
  std::byte* data_;
  DType dtype_;
  int64_t first_;  // element
};

}  // namespace pagoda::device::reference

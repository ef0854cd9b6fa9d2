// The state of a head for the kernels of gdn and kda.
#pragma once

#include "device/cpu/kernels.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

inline GdnState state_of(const Tensor& pool, int64_t slot, int64_t head) noexcept {
  if (pool.dtype == DType::bf16) return {host::at<Bf16>(pool, slot, head), true};
  return {host::at<float>(pool, slot, head), false};
}

}  // namespace pagoda::device::cpu

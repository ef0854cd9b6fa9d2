// Arguments of rms_norm, shared by the kernel and the host.
#pragma once

#ifndef __METAL_VERSION__
#include <cstddef>
#include <cstdint>
#endif

namespace pagoda_args {

struct RmsNorm {
  uint32_t width;            // H: elements per row
  uint32_t x_stride;         // elements between rows of x
  uint32_t residual_stride;  // of residual
  uint32_t out_stride;       // of out
  float eps;
  float weight_offset;  // 1 for zero-centred weights
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}  // namespace pagoda_args

#ifndef __METAL_VERSION__
static_assert(offsetof(pagoda_args::RmsNorm, weight_offset) == 20);
#endif

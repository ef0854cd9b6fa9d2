// cache_row.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/cache_row.h"
#include "device/gpu/generated/common.h"


METAL_FUNC uint scale_at(uint dim) { return (dim + 3) / 4 * 4; }


template <typename P, typename T>
METAL_FUNC void cache_row(P from, MSL_DEVICE T* to, uint dim, uint lane) {
  for (uint d = lane; MSL_LOOP(d < dim); d += 32) {
    to[d] = T(from[d]);
  }
}
# 19 "Shaders/cache_row.h"
template <typename P>
METAL_FUNC void cache_row(P from, MSL_DEVICE char* to, uint dim, uint lane) {
  float largest = 0.0f;
  float poison = 0.0f;
  for (uint d = lane; MSL_LOOP(d < dim); d += 32) {
    largest = max(largest, abs(from[d]));
    poison += from[d] * 0.0f;
  }
  largest = simd_max(largest);
  poison = simd_sum(poison);
  const bool has_codes = poison == 0.0f && largest > as_type<float>(27u << 23);
  const float inverse = has_codes ? 127.0f / largest : 0.0f;
  for (uint d = lane; MSL_LOOP(d < dim); d += 32) {
    to[d] = char(has_codes ? int(rint(from[d] * inverse)) : 0);
  }
  if (lane == 0) {
    *(MSL_DEVICE float*)(to + scale_at(dim)) = (has_codes ? largest / 127.0f : 0.0f) + poison;
  }
}

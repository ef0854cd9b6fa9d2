// Writing a key, a value or a latent to its row of a cache.
#pragma once

#include "common.h"

// Rows of an int8 cache have their scale after the codes (base/kv_row.h): at this byte.
METAL_FUNC uint scale_at(uint dim) { return (dim + 3) / 4 * 4; }

// By one simdgroup. P: a pointer to floats of any memory
template <typename P, typename T>
METAL_FUNC void cache_row(P from, device T* to, uint dim, uint lane) {
  for (uint d = lane; d < dim; d += 32) {
    to[d] = T(from[d]);
  }
}

// scale = largest magnitude / 127; a row of (nearly) zeros has scale 0, and one with a number that is not finite has a
// scale that is not a number, as in every other cache.
template <typename P>
METAL_FUNC void cache_row(P from, device char* to, uint dim, uint lane) {
  float largest = 0.0f;
  float poison = 0.0f;  // not a number if any is not finite
  for (uint d = lane; d < dim; d += 32) {
    largest = max(largest, abs(from[d]));
    poison += from[d] * 0.0f;
  }
  largest = simd_max(largest);
  poison = simd_sum(poison);
  const bool has_codes = poison == 0.0f && largest > as_type<float>(27u << 23);  // 2^-100: 127 / largest is finite
  const float inverse = has_codes ? 127.0f / largest : 0.0f;
  for (uint d = lane; d < dim; d += 32) {
    to[d] = char(has_codes ? int(rint(from[d] * inverse)) : 0);
  }
  if (lane == 0) {
    *(device float*)(to + scale_at(dim)) = (has_codes ? largest / 127.0f : 0.0f) + poison;
  }
}

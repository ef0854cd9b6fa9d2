// simdgroup_matrix of the Metal Shading Language for the software device: two elements per lane.
#pragma once

#include "device/gpu/shim/software/simd.h"

namespace metal {

// Lane l holds elements (l / 4, 2 (l % 4)) and (l / 4, 2 (l % 4) + 1).
template <typename T, int Cols, int Rows = Cols>
struct simdgroup_matrix {
  static_assert(Cols == 8 && Rows == 8, "Metal has 8x8 only");
  T msl_e[2];
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <typename T, int C, int R>
MSL_FN simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T v) {
  simdgroup_matrix<T, C, R> m;
  m.msl_e[0] = m.msl_e[1] = v;
  return m;
}
// Metal does not specify which lane holds which element. The check build also reads a neighbour's element, so that
// loads and stores have to be ordered by barriers and not just by our layout.
#ifdef MSL_CHECKED
extern "C" void __tsan_read2(void* p);
MSL_FN void msl_see_neighbour(const void* p) { __tsan_read2(const_cast<void*>(p)); }
#else
MSL_FN void msl_see_neighbour(const void*) {}
#endif
template <typename T>
MSL_FN void simdgroup_load(simdgroup_matrix<T, 8, 8>& m, const T* src, ulong ld = 8, ulong2 origin = ulong2(0, 0),
                           bool transpose = false, int line = __builtin_LINE()) {
  if (transpose && (origin.x || origin.y))
    ::pagoda::device::gpu::software::fail(line, "simdgroup_load: origin with transpose is outside the subset");
  ::pagoda::device::gpu::software::require_uniform((const void*)src, ld, "simdgroup_load", line);
  const ulong r = ::pagoda::device::gpu::software::lane() / 4, c = ::pagoda::device::gpu::software::lane() % 4 * 2;
  const T* p = src + origin.y * ld + origin.x;
  m.msl_e[0] = transpose ? p[c * ld + r] : p[r * ld + c];
  m.msl_e[1] = transpose ? p[(c + 1) * ld + r] : p[r * ld + c + 1];
  msl_see_neighbour(transpose ? &p[(c ^ 2) * ld + r] : &p[r * ld + (c ^ 2)]);
}
template <typename T>
MSL_FN void simdgroup_store(const simdgroup_matrix<T, 8, 8>& m, T* dst, ulong ld = 8, ulong2 origin = ulong2(0, 0),
                            bool transpose = false, int line = __builtin_LINE()) {
  if (transpose && (origin.x || origin.y))
    ::pagoda::device::gpu::software::fail(line, "simdgroup_store: origin with transpose is outside the subset");
  ::pagoda::device::gpu::software::require_uniform((const void*)dst, ld, "simdgroup_store", line);
  const ulong r = ::pagoda::device::gpu::software::lane() / 4, c = ::pagoda::device::gpu::software::lane() % 4 * 2;
  T* p = dst + origin.y * ld + origin.x;
  (transpose ? p[c * ld + r] : p[r * ld + c]) = m.msl_e[0];
  (transpose ? p[(c + 1) * ld + r] : p[r * ld + c + 1]) = m.msl_e[1];
}
// sum + a * b, rounded once, as scalar.h assumes. The product of numbers of 16 bits is exact unless it is tiny or too
// large for a float, and so is that with a zero.
template <typename TA, typename TB>
MSL_FN float msl_add_product(float sum, float a, float b) {
  const float product = a * b;
  const float size = ::fabsf(product);
  const bool is_exact = sizeof(TA) == 2 && sizeof(TB) == 2 && size >= 0x1p-100f && size <= 0x1p100f;
  return is_exact || a == 0.0f || b == 0.0f ? sum + product : ::fmaf(a, b, sum);
}
// D = A B + C, accumulated in float.
template <typename TD, typename TA, typename TB, typename TC>
MSL_FN void simdgroup_multiply_accumulate(simdgroup_matrix<TD, 8, 8>& d, const simdgroup_matrix<TA, 8, 8>& a,
                                          const simdgroup_matrix<TB, 8, 8>& b, const simdgroup_matrix<TC, 8, 8>& c,
                                          int line = __builtin_LINE()) {
  const float mine[4] = {float(a.msl_e[0]), float(a.msl_e[1]), float(b.msl_e[0]), float(b.msl_e[1])};
  const float(*s)[4] = (const float(*)[4])::pagoda::device::gpu::software::simd_exchange(
      mine, sizeof(mine), "simdgroup_multiply_accumulate", line);
  const int r = ::pagoda::device::gpu::software::lane() / 4, t = ::pagoda::device::gpu::software::lane() % 4;
  float d0 = float(c.msl_e[0]), d1 = float(c.msl_e[1]);
  for (int k = 0; k < 8; ++k) {
    const float av = s[r * 4 + k / 2][k & 1];
    d0 = msl_add_product<TA, TB>(d0, av, s[k * 4 + t][2]);
    d1 = msl_add_product<TA, TB>(d1, av, s[k * 4 + t][3]);
  }
  d.msl_e[0] = TD(d0);
  d.msl_e[1] = TD(d1);
}
template <typename TD, typename TA, typename TB>
MSL_FN void simdgroup_multiply(simdgroup_matrix<TD, 8, 8>& d, const simdgroup_matrix<TA, 8, 8>& a,
                               const simdgroup_matrix<TB, 8, 8>& b, int line = __builtin_LINE()) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<float, 8, 8>(0.0f), line);
}

}  // namespace metal

// The kernels for x86-64 with AVX-512 F, BW, DQ, VL (servers from 2017, Zen 4 on).
#include "device/cpu/flush_denormals.h"
#include "device/cpu/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed to inlined functions only
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), \
                             apply_to = function)
namespace pagoda::device::cpu::avx512 {

constexpr const char* kName = "avx512";
constexpr bool kFused = true, kHardwareF16 = true;
// 32 registers of 16 lanes: up to 24 accumulators.
constexpr int kTileRows = 6, kTileOutputs = 4;
constexpr int kScoreQueries = 4, kScorePositions = 4, kValueQueries = 4, kValueVectors = 4;
constexpr int kStateRows = 4, kStateVectors = 4;
constexpr int kInt8Rows = 4, kInt8Blocks = 2, kBf16Blocks = 4;
constexpr bool kUnsignedWeights = false;

#include "device/cpu/kernels/vector.h"

// Products of |w| and x with the sign of w: neither 16-bit sum can overflow, since |x| <= 127.
PAGODA_INLINE __m256i dot(__m256i sums, __m256i w, __m256i x) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
PAGODA_INLINE IntVec dot(IntVec sums, Bytes w, uint32_t x) {
  struct Halves {
    __m256i half[2];
  };
  Halves s = __builtin_bit_cast(Halves, sums);
  const Halves weights = __builtin_bit_cast(Halves, w);
  for (int i = 0; i < 2; ++i) s.half[i] = dot(s.half[i], weights.half[i], _mm256_set1_epi32(static_cast<int>(x)));
  return __builtin_bit_cast(IntVec, s);
}

#include "device/cpu/kernels/all.h"

}  // namespace pagoda::device::cpu::avx512

#pragma clang attribute pop
#endif

// Packed products for x86-64 with AVX-512 VNNI (Ice Lake, Zen 4, and later).
#include "device/cpu/flush_denormals.h"
#include "device/cpu/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"))), \
                             apply_to = function)
namespace pagoda::device::cpu::vnni {

constexpr bool kFused = true, kHardwareF16 = true, kUnsignedWeights = true;
constexpr int kInt8Rows = 4, kOnePassRows = 8, kOnePassSums = 24, kInt8Blocks = 4, kBf16Blocks = 4, kWideRows = 4,
              kWideBlocks = 2;

#include "device/cpu/kernels/vector.h"

PAGODA_INLINE IntVec dot(IntVec sums, Bytes w, uint32_t x) {
  return __builtin_bit_cast(IntVec,
                            _mm512_dpbusd_epi32(__builtin_bit_cast(__m512i, sums), __builtin_bit_cast(__m512i, w),
                                                _mm512_set1_epi32(static_cast<int>(x))));
}

// clang-format off: order matters
#include "device/cpu/kernels/lookup_avx512.h"
#include "device/cpu/kernels/packed_weights.h"
#include "device/cpu/kernels/packed.h"
#include "device/cpu/kernels/unpacked.h"
#include "device/cpu/kernels/stored_panels.h"
#include "device/cpu/kernels/stored.h"
#include "device/cpu/kernels/widened.h"
// clang-format on

}  // namespace pagoda::device::cpu::vnni

#pragma clang attribute pop
#endif

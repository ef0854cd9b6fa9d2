// Packed products for 64-bit ARM with int8 dot products (Neoverse N1, Cortex-A76, Apple A11 and M1, and later).
#include "device/cpu/flush_denormals.h"
#include "device/cpu/kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
namespace pagoda::device::cpu::dotprod {

constexpr bool kFused = true, kHardwareF16 = true, kUnsignedWeights = false;
// Accumulators of 4 rows x 16 channels take 16 of 32 registers; 2 x 2 would unpack 4-bit weights twice as often.
constexpr int kInt8Rows = 4, kOnePassRows = 6, kOnePassSums = 6, kInt8Blocks = 1, kBf16Blocks = 2, kWideRows = 2,
              kWideBlocks = 1;

#include "device/cpu/kernels/vector.h"

PAGODA_INLINE IntVec dot(IntVec sums, Bytes w, uint32_t x) {
  struct Quarters {
    int32x4_t part[4];
  };
  Quarters s = __builtin_bit_cast(Quarters, sums);
  const Quarters weights = __builtin_bit_cast(Quarters, w);
  const int8x16_t four = vreinterpretq_s8_u32(vdupq_n_u32(x));
  for (int i = 0; i < 4; ++i) s.part[i] = vdotq_s32(s.part[i], vreinterpretq_s8_s32(weights.part[i]), four);
  return __builtin_bit_cast(IntVec, s);
}

// clang-format off: order matters
#include "device/cpu/kernels/lookup_neon.h"
#include "device/cpu/kernels/packed_weights.h"
#include "device/cpu/kernels/packed.h"
#include "device/cpu/kernels/unpacked.h"
#include "device/cpu/kernels/stored_panels.h"
#include "device/cpu/kernels/stored.h"
#include "device/cpu/kernels/widened.h"
// clang-format on

}  // namespace pagoda::device::cpu::dotprod

#pragma clang attribute pop
#endif

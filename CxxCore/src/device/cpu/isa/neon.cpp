// Kernels for 64-bit ARM, whose baseline includes fused multiply-add and half-precision conversion.
#include "device/cpu/flush_denormals.h"
#include "device/cpu/kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions

namespace pagoda::device::cpu::neon {

constexpr const char* kName = "neon";
constexpr bool kFused = true, kHardwareF16 = true;
// 32 registers of 4 lanes: up to 4 accumulators of four registers.
constexpr int kTileRows = 2, kTileOutputs = 2;
constexpr int kScoreQueries = 2, kScorePositions = 2, kValueQueries = 2, kValueVectors = 2;
constexpr int kStateRows = 4, kStateVectors = 1, kStatePanels = 1;
constexpr int kInt8Rows = 2, kOnePassRows = 2, kOnePassSums = 4, kInt8Blocks = 2, kBf16Blocks = 2, kWideRows = 2,
              kWideBlocks = 1;
constexpr bool kUnsignedWeights = false;

#include "device/cpu/kernels/vector.h"

PAGODA_INLINE IntVec dot(IntVec sums, Bytes w, uint32_t x) {
  struct Quarters {
    int32x4_t part[4];
  };
  Quarters s = __builtin_bit_cast(Quarters, sums);
  const Quarters weights = __builtin_bit_cast(Quarters, w);
  const int8x8_t four_twice = vreinterpret_s8_u32(vdup_n_u32(x));
  for (int i = 0; i < 4; ++i) {
    const int8x16_t line = vreinterpretq_s8_s32(weights.part[i]);  // 4 channels
    const int32x4_t first = vpaddlq_s16(vmull_s8(vget_low_s8(line), four_twice)),
                    second = vpaddlq_s16(vmull_s8(vget_high_s8(line), four_twice));
    s.part[i] = vaddq_s32(s.part[i], vpaddq_s32(first, second));
  }
  return __builtin_bit_cast(IntVec, s);
}

// clang-format off: order matters
#include "device/cpu/kernels/lookup_neon.h"
#include "device/cpu/kernels/all.h"
// clang-format on

}  // namespace pagoda::device::cpu::neon

#endif

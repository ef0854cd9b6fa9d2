// The kernels for any machine: the compiler's baseline, products and sums rounded apart.
#include "device/cpu/flush_denormals.h"
#include "device/cpu/kernels.h"

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed to inlined functions only

namespace pagoda::device::cpu::portable {

constexpr const char* kName = "portable";
constexpr bool kFused = false, kHardwareF16 = false;
// Often 16 registers of 4 lanes: 2 accumulators.
constexpr int kTileRows = 2, kTileOutputs = 1;
constexpr int kScoreQueries = 1, kScorePositions = 2, kValueQueries = 1, kValueVectors = 2;
constexpr int kStateRows = 2, kStateVectors = 1;
constexpr int kInt8Rows = 1, kInt8Blocks = 2, kBf16Blocks = 2;
constexpr bool kUnsignedWeights = false;

#include "device/cpu/kernels/vector.h"

PAGODA_INLINE IntVec dot(IntVec sums, Bytes w, uint32_t x) {
  for (int i = 0; i < kLanes; ++i)
    for (int b = 0; b < 4; ++b) sums[i] += static_cast<int8_t>(w[4 * i + b]) * static_cast<int8_t>(x >> (8 * b));
  return sums;
}

#include "device/cpu/kernels/all.h"

}  // namespace pagoda::device::cpu::portable

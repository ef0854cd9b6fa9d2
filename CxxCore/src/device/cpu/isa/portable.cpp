// Kernels for any machine: the compiler's baseline, with products and sums rounded separately.
#include "device/cpu/flush_denormals.h"
#include "device/cpu/kernels.h"

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions

namespace pagoda::device::cpu::portable {

constexpr const char* kName = "portable";
constexpr bool kFused = false, kHardwareF16 = false;
// Typically 16 registers of 4 lanes: 2 accumulators.
constexpr int kTileRows = 2, kTileOutputs = 1;
constexpr int kScoreQueries = 1, kScorePositions = 2, kValueQueries = 1, kValueVectors = 2;
constexpr int kStateRows = 2, kStateVectors = 1, kStatePanels = 1;
constexpr int kInt8Rows = 1, kOnePassRows = 1, kOnePassSums = 2, kInt8Blocks = 2, kBf16Blocks = 2, kWideRows = 1,
              kWideBlocks = 1;
constexpr bool kUnsignedWeights = false;

#include "device/cpu/kernels/vector.h"

// Uses 16-bit lanes, which every vector unit can multiply: |w| <= 128 and |x| <= 127, so a sum of two products fits.
PAGODA_INLINE IntVec dot(IntVec sums, Bytes w, uint32_t x) {
  typedef int16_t Shorts __attribute__((ext_vector_type(32)));
  const Shorts both = __builtin_bit_cast(Shorts, w);
  const Shorts x_both = __builtin_bit_cast(Shorts, static_cast<BitVec>(x));
  const Shorts pairs = ((both << 8) >> 8) * ((x_both << 8) >> 8) + (both >> 8) * (x_both >> 8);
  const IntVec two = __builtin_bit_cast(IntVec, pairs);
  return sums + ((two << 16) >> 16) + (two >> 16);
}

PAGODA_INLINE Bytes lookup(Bytes16 table, Bytes codes) {
  Bytes values = {};
  for (int i = 0; i < 64; ++i) values[i] = table[codes[i] & 15];
  return values;
}

#include "device/cpu/kernels/all.h"

}  // namespace pagoda::device::cpu::portable

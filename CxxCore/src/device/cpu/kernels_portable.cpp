// The kernels for any machine: the compiler's baseline, products and sums rounded apart.
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

#include "device/cpu/kernels/all.h"

}  // namespace pagoda::device::cpu::portable

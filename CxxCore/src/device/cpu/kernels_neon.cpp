// The kernels for 64-bit ARM, whose baseline has fused products and half-precision conversion.
#include "device/cpu/kernels.h"

#if defined(__aarch64__)
#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed to inlined functions only

namespace pagoda::device::cpu::neon {

constexpr const char* kName = "neon";
constexpr bool kFused = true, kHardwareF16 = true;
// 32 registers of 4 lanes: up to 4 accumulators of four registers.
constexpr int kTileRows = 2, kTileOutputs = 2;
constexpr int kScoreQueries = 2, kScorePositions = 2, kValueQueries = 2, kValueVectors = 2;
constexpr int kStateRows = 4, kStateVectors = 1;

#include "device/cpu/kernels/all.h"

}  // namespace pagoda::device::cpu::neon

#endif

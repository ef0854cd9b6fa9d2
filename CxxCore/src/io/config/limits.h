// The largest sizes that a configuration may state.
#pragma once

#include <cstdint>

namespace pagoda::io {

// Larger than in any known model, and small enough that products of two sizes fit in 64 bits.
constexpr int32_t kMaxHiddenSize = 1 << 20, kMaxIntermediateSize = 1 << 22, kMaxLayers = 4096, kMaxHeads = 1 << 14;
constexpr int32_t kMaxExperts = 4096, kMaxExpertsPerToken = 64;
constexpr int32_t kMaxHeadDim = 1024, kMaxVocabSize = 1 << 24, kMaxConvKernel = 16;

}  // namespace pagoda::io

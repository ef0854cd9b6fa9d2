// Writes a quantised copy of a model, as files that MLX and this engine read.
#pragma once

#include <cstdint>
#include <string>

#include "pagoda/model_source.h"
#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {

struct QuantizeOptions {
  int32_t bits = 4;         // per weight: 4 or 8
  int32_t group_size = 64;  // weights that share a scale and an offset
  bool is_mixed = false;    // requires 4 bits: 8 for the matrices whose rounding changes answers most
  int32_t num_threads = 0;  // 0 = one per core
};

struct QuantizeResult {
  Status status;
  int64_t input_bytes = 0;    // of all tensors
  int64_t output_bytes = 0;   // of all weight files
  int32_t num_quantized = 0;  // matrices; other tensors are copied unchanged
  int32_t num_wide = 0;       // of these: matrices of a mix with 8 bits
  int32_t num_files = 0;      // weight files
};

// Progress in [0, 1], on the calling thread; false ends the work with `cancelled`.
using QuantizeProgress = bool (*)(void* PAGODA_NULLABLE context, double fraction);

// Blocks. `folder` appears only when complete; it must not exist, or must be empty.
QuantizeResult quantize_model(const ModelSource& source, const std::string& folder, const QuantizeOptions& options,
                              QuantizeProgress PAGODA_NULLABLE progress, void* PAGODA_NULLABLE context) noexcept;

}  // namespace pagoda

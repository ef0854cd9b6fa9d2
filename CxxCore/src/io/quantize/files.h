// Writes a copy of a model folder with affine-quantised weights, one matrix at a time.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "io/model_files.h"
#include "pagoda/quantize.h"

namespace pagoda::io {

// `go_on` receives the progress from 0 to 1 and may cancel. `max_shard_bytes`: tensor data per file.
inline constexpr uint64_t kMaxShardBytes = uint64_t{5} << 30;
QuantizeResult quantize_files(const ModelFiles& files, const std::string& folder, const QuantizeOptions& options,
                              const std::function<bool(double)>& go_on, uint64_t max_shard_bytes = kMaxShardBytes);

}  // namespace pagoda::io

// Quantizer: writes the files of a QuantizePlan, a chunk of rows at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/threads/thread_pool.h"
#include "io/checkpoint.h"
#include "io/quantize/affine.h"
#include "io/quantize/plan.h"
#include "io/safetensors/writer.h"

namespace pagoda::io {

// Memory use is some 16 MiB of rows plus the scales and biases of the current matrix. All arguments must outlive it.
class Quantizer {
 public:
  Quantizer(const Checkpoint& checkpoint, const QuantizePlan& plan, ThreadPool& pool,
            const std::function<bool(double)>& go_on)
      : checkpoint_(checkpoint),
        plan_(plan),
        pool_(pool),
        go_on_(go_on),
        row_(static_cast<size_t>(pool.num_threads())) {}

  Status write_shard(const QuantizeShard& shard, const std::string& path);

 private:
  Status read(const TensorEntry& entry, uint64_t begin, uint64_t count);
  Status proceed(uint64_t count);
  Status copy(const TensorEntry& entry, SafetensorsWriter& writer);
  Status decode(const QuantizeTask& task, SafetensorsWriter& writer);
  Status quantize(const QuantizeTask& task, SafetensorsWriter& writer);
  Status quantize_rows(const QuantizeTask& task, uint64_t first, uint64_t count);

  const Checkpoint& checkpoint_;
  const QuantizePlan& plan_;
  ThreadPool& pool_;
  const std::function<bool(double)>& go_on_;
  uint64_t done_bytes_ = 0;              // how many of plan_.input_bytes are done
  std::vector<std::byte> bytes_;         // rows as stored in the file; unused for those with a decoder
  std::vector<std::vector<float>> row_;  // per thread
  std::vector<uint32_t> words_;          // for the rows of the current chunk
  std::vector<AffineGroup> groups_;      // for the rows of the current chunk
};

}  // namespace pagoda::io

// Messages between the first stage and the others, and their frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/weight_format.h"
#include "io/checkpoint.h"
#include "model/forward_batch.h"
#include "model/model.h"
#include "pipeline/frames.h"

namespace pagoda::pipeline {

constexpr uint64_t kProtocol = 3;

struct Hello {
  uint64_t protocol = kProtocol;
  uint32_t byte_order = 0x01020304;
  uint64_t model = 0;  // model_identity()
  std::string model_name;
  int64_t memory_bytes = 0;  // that the device allows
  double speed = 0;          // measured, in any unit: see measure_speed()
};

struct Assignment {  // what a stage loads
  int32_t first_layer = 0, end_layer = 0;
  WeightFormat format = WeightFormat::f32;
  DType kv_dtype = DType::f32;
  std::string rope_scaling;
  EngineLimits sizes;
  bool operator==(const Assignment&) const = default;
};

// Names, types and shapes of all tensors, and the configuration: not their bytes, which take minutes to read.
uint64_t model_identity(const std::string& config_json, const io::Checkpoint& checkpoint);

Bytes encode(const Hello& hello);
Bytes encode(const Assignment& assignment);
Bytes encode_failure(const Status& status);
Kind kind_of(std::span<const std::byte> frame);
Result<Hello> decode_hello(std::span<const std::byte> frame);
Result<Assignment> decode_assignment(std::span<const std::byte> frame);
Status decode_failure(std::span<const std::byte> frame);

// A step, and the rows of it that a stage gives back: all of them but for the last stage, which gives those that the
// head is asked about. Every table is sent as far as it is used, so a stage keeps nothing from step to step.
Bytes encode_plan(const model::ForwardBatch& batch, std::span<const int32_t> returned_rows, bool returns_all,
                  const EngineLimits& sizes);
struct StagePlan {
  model::ForwardBatch batch;
  bool returns_all = true;
  std::vector<int32_t> returned_rows;
};
// The result is only checked for length; the model checks the rest (model/batch_check.h).
Status decode_plan(std::span<const std::byte> frame, const EngineLimits& sizes, StagePlan& plan);

Bytes encode_rows(std::span<const float> rows);
Status decode_rows(std::span<const std::byte> frame, std::vector<float>& rows);

}  // namespace pagoda::pipeline

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

constexpr uint64_t kProtocol = 4;

struct Hello {
  uint64_t protocol = kProtocol;
  uint32_t byte_order = 0x01020304;
  uint64_t model = 0;  // model_identity()
  std::string model_name;
  int64_t memory_bytes = 0;  // allowed by the device
  double speed = 0;          // measured, in any unit: see measure_speed()
};

struct Assignment {  // the layers that a stage loads
  int32_t first_layer = 0, end_layer = 0;
  WeightFormat format = WeightFormat::f32;
  DType kv_dtype = DType::f32, state_dtype = DType::f32;
  std::string rope_scaling;
  EngineLimits sizes;
  bool operator==(const Assignment&) const = default;
};

// A hash of the configuration and of the names, types and shapes of all tensors; their contents would take minutes to
// read.
uint64_t model_identity(const std::string& config_json, const io::Checkpoint& checkpoint);

Bytes encode(const Hello& hello);
Bytes encode(const Assignment& assignment);
Bytes encode_failure(const Status& status);
Kind kind_of(std::span<const std::byte> frame);
Result<Hello> decode_hello(std::span<const std::byte> frame);
Result<Assignment> decode_assignment(std::span<const std::byte> frame);
Status decode_failure(std::span<const std::byte> frame);

// A step, and the rows that a stage returns: all of them, except for the last stage, which returns those
// needed by the head. Every table is sent up to its used length, so a stage keeps nothing between steps.
Bytes encode_plan(const model::ForwardBatch& batch, std::span<const int32_t> returned_rows, bool returns_all,
                  const EngineLimits& sizes);
struct StagePlan {
  model::ForwardBatch batch;
  bool returns_all = true;
  std::vector<int32_t> returned_rows;
};
// Only the length of the result is checked; the model checks the rest (model/batch_check.h).
Status decode_plan(std::span<const std::byte> frame, const EngineLimits& sizes, StagePlan& plan);

Bytes encode_rows(std::span<const float> rows);
Status decode_rows(std::span<const std::byte> frame, std::vector<float>& rows);

}  // namespace pagoda::pipeline

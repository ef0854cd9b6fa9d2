// Assigns layers to stages: contiguous parts whose slowest is as fast as possible, within the memory of each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::pipeline {

struct StageLimits {
  double speed = 1;          // relative
  int64_t memory_bytes = 0;  // for weights
};

struct LayerCosts {
  std::vector<int64_t> read_bytes, bytes;  // by layer: read in a step, kept on the device
  int64_t head_bytes = 0;                  // of embedding and head, which the first stage holds
  int64_t head_read_bytes = 0;             // the part of it that a step reads
};

// The end of each part; the first starts at 0 and every stage has a layer. The time of a stage is the bytes it reads
// in a step divided by its speed.
Result<std::vector<int32_t>> split_layers(const LayerCosts& costs, std::span<const StageLimits> stages);

// "12,12": the number of layers of each stage.
Result<std::vector<int32_t>> parse_split(const std::string& text, int32_t num_layers, size_t num_stages);

// Bytes of a matrix per second in products with a few rows, as in decoding: for comparing stages.
Result<double> measure_speed(const std::string& device_name, int num_threads);

}  // namespace pagoda::pipeline

// paged_attention.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 14 "Shaders/paged_attention.h"
#include "device/gpu/generated/args_paged_attention.h"
#include "device/gpu/generated/common.h"

MSL_FUNCTION_CONSTANT(bool, use_window, 0)
MSL_FUNCTION_CONSTANT(bool, use_softcap, 1)
MSL_FUNCTION_CONSTANT(bool, use_sinks, 2)
MSL_FUNCTION_CONSTANT(bool, use_all_keys, 3)

MSL_CONSTANT constexpr uint kPartition = 256;
MSL_CONSTANT constexpr uint kMaxDim = 256;
MSL_CONSTANT constexpr uint kThreads = 128;
MSL_CONSTANT constexpr uint kSimdgroups = 4;
MSL_CONSTANT constexpr uint kQueryStride = kMaxDim + 8;
MSL_CONSTANT constexpr uint kScores = kPartition + 4;
# 31 "Shaders/paged_attention.h"
MSL_CONSTANT constexpr uint kPartMax = 0;
MSL_CONSTANT constexpr uint kPartSum = 1;
MSL_CONSTANT constexpr uint kRowMax = 2;
MSL_CONSTANT constexpr uint kRowSum = 3;
MSL_CONSTANT constexpr uint kTotalFactor = 4;
MSL_CONSTANT constexpr uint kPartFactor = 5;
MSL_CONSTANT constexpr uint kStats = 6;


METAL_FUNC uint first_part(int position, uint window) {
  const int begin = use_window ? max(0, position - int(window) + 1) : 0;
  return uint(begin) / kPartition;
}

METAL_FUNC bool is_visible(int key, int position, uint window) {
  return key <= position && (!use_window || key > position - int(window));
}


METAL_FUNC float merged(float total, float total_factor, float part, float part_factor) {
  return fma(total, total_factor, part * part_factor);
}


METAL_FUNC float scale_to_end(float largest, float sum, float sink) {
  if (!use_sinks) {
    return 1.0f / sum;
  }
  const float end = max(sink, largest);
  const float factor = precise::exp(largest - end);
  return factor / fma(sum, factor, precise::exp(sink - end));
}


template <typename T>
struct KeyWeight {
  T of_codes;
  float share;
};


template <typename T, bool IS_INT8>
METAL_FUNC KeyWeight<T> weight_of(bool is_seen, float score, MSL_THREADGROUP const float* scales, uint at) {
  const float weight = is_seen ? precise::exp(score) : 0.0f;
  KeyWeight<T> result;
  result.of_codes = T(weight);
  result.share = float(result.of_codes);
  if (IS_INT8 && is_seen) {
    const float scale = scales[at];
    result.of_codes = T(weight * scale);
    result.share = scale > 0.0f ? float(result.of_codes) / scale : weight;
  }
  return result;
}

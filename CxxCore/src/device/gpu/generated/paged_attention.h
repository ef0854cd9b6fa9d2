// paged_attention.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 14 "Shaders/paged_attention.h"
#include "device/gpu/generated/args_paged_attention.h"
#include "device/gpu/generated/common.h"

MSL_FUNCTION_CONSTANT(bool, use_window, 0)
MSL_FUNCTION_CONSTANT(bool, use_softcap, 1)
MSL_FUNCTION_CONSTANT(bool, use_sinks, 2)

MSL_CONSTANT constexpr uint kPartition = 256;
MSL_CONSTANT constexpr uint kMaxDim = 256;
MSL_CONSTANT constexpr uint kThreads = 128;
MSL_CONSTANT constexpr uint kSimdgroups = 4;
MSL_CONSTANT constexpr uint kQueryStride = kMaxDim + 8;
MSL_CONSTANT constexpr uint kScores = kPartition + 4;
# 30 "Shaders/paged_attention.h"
MSL_CONSTANT constexpr uint kPartMax = 0;
MSL_CONSTANT constexpr uint kPartSum = 1;
MSL_CONSTANT constexpr uint kRowMax = 2;
MSL_CONSTANT constexpr uint kRowSum = 3;
MSL_CONSTANT constexpr uint kTotalFactor = 4;
MSL_CONSTANT constexpr uint kPartFactor = 5;
MSL_CONSTANT constexpr uint kStats = 6;


METAL_FUNC uint first_tile(MSL_DEVICE const int* cu_seqlens, uint b, uint group, uint tile_rows) {
  return uint(cu_seqlens[b]) * group / tile_rows + b;
}

METAL_FUNC uint sequence_of_tile(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint tile, uint group,
                                 uint tile_rows) {
  uint lo = 0;
  uint hi = num_sequences;
  while (MSL_LOOP(hi - lo > 1)) {
    const uint mid = (lo + hi) / 2;
    if (first_tile(cu_seqlens, mid, group, tile_rows) <= tile) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}


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

// AdapterPart: one part of a row's adapter, for devices whose memory the host can read.
#pragma once

#include <cstdint>

#include "device/adapter_ops.h"
#include "device/host/access.h"

namespace pagoda::device::host {

struct AdapterPart {
  int64_t rank = 0;          // 0: the row keeps its bits
  const float* a = nullptr;  // [rank, K]
  const float* b = nullptr;  // [rank, columns]
  const float* x = nullptr;  // [K]
};

inline AdapterPart adapter_part(const AdapterArgs& args, int64_t row, int64_t part) noexcept {
  const int64_t rows = args.out.shape[0], per_token = args.experts.is_present() ? args.experts.shape[1] : 1;
  const int64_t slot = host_data<int32_t>(args.slots)[row / per_token];
  if (slot < 0) return {};
  const int64_t expert = args.experts.is_present() ? at<int32_t>(args.experts, row / per_token)[row % per_token] : 0;
  const int64_t index = (slot * args.table.shape[1] + expert) * args.table.shape[2] + part;
  const int64_t* entry = host_data<int64_t>(args.table) + index * kAdapterFields;
  const float* weights = host_data<float>(args.weights);
  const int64_t x_row = args.x.shape[0] == rows ? row : row / per_token;
  return {entry[kAdapterRank], weights + entry[kAdapterA], weights + entry[kAdapterB], at<float>(args.x, x_row)};
}

}  // namespace pagoda::device::host

// latent_attention: a plain softmax over all visible rows, for each row and head.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/kv_row.h"
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {
namespace {

// The cache row of a position, as numbers.
std::vector<double> cached_row(const Tensor& cache, const int32_t* blocks, int64_t position) {
  const int64_t block_size = cache.shape[1], dim = cache.shape[2];
  const int64_t first = blocks[position / block_size] * cache.strides[0] + position % block_size * cache.strides[1];
  std::vector<double> row(static_cast<size_t>(dim));
  float scale = 1;
  if (cache.dtype == DType::i8)
    std::memcpy(&scale, host_data<int8_t>(cache) + first + kv_scale_offset(dim), sizeof scale);
  for (int64_t i = 0; i < dim; ++i)
    row[i] = cache.dtype == DType::i8 ? static_cast<double>(scale) * host_data<int8_t>(cache)[first + i]
                                      : load(host_data<void>(cache), cache.dtype, first + i);
  return row;
}

void attend(const LatentAttentionArgs& args, const std::vector<std::vector<double>>& rows, int64_t row, int64_t head) {
  const float* q = at<float>(args.q, row, head);
  std::vector<double> scores;
  double largest = -INFINITY, total = 0;
  for (const std::vector<double>& cached : rows) {
    double sum = 0;
    for (size_t i = 0; i < cached.size(); ++i) sum += q[i] * cached[i];
    scores.push_back(sum * args.scale);
    largest = std::max(largest, scores.back());
  }
  std::vector<double> out(static_cast<size_t>(args.out.shape[2]));
  for (size_t p = 0; p < rows.size(); ++p) {
    const double weight = std::exp(scores[p] - largest);
    total += weight;
    for (size_t i = 0; i < out.size(); ++i) out[i] += weight * rows[p][i];
  }
  for (size_t i = 0; i < out.size(); ++i) at<float>(args.out, row, head)[i] = static_cast<float>(out[i] / total);
}

}  // namespace

void run(const LatentAttentionArgs& args) noexcept {
  const SequenceArgs& s = args.sequences;
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b) {
    std::vector<std::vector<double>> rows;
    for (int64_t row = bounds[b]; row < bounds[b + 1]; ++row) {
      const int64_t position = host_data<int32_t>(s.context_lens)[b] - (bounds[b + 1] - row);
      while (static_cast<int64_t>(rows.size()) <= position)
        rows.push_back(cached_row(args.cache, at<int32_t>(s.block_tables, b), static_cast<int64_t>(rows.size())));
      for (int64_t head = 0; head < args.q.shape[1]; ++head) attend(args, rows, row, head);
    }
  }
}

}  // namespace pagoda::device::reference

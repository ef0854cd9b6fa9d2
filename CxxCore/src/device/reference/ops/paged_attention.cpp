// paged_attention: a plain softmax over all visible positions of each row and head.
#include <algorithm>
#include <cmath>

#include "device/reference/paged_rows.h"
#include "device/reference/reference_ops.h"

namespace pagoda::device::reference {
namespace {

double score(const PagedAttentionArgs& args, const float* q, int64_t first) noexcept {
  double sum = 0;
  for (int64_t i = 0; i < args.q.shape[2]; ++i) sum += q[i] * cache_element(args.k_cache, first, args.q.shape[2], i);
  const double score = sum * args.scale;
  return args.softcap > 0 ? args.softcap * std::tanh(score / args.softcap) : score;
}

// Two passes over the positions, each recomputing the scores, so that none need to be stored.
void attend(const PagedAttentionArgs& args, const int32_t* blocks, int64_t row, int64_t head,
            int64_t position) noexcept {
  const int64_t dim = args.q.shape[2], kv_head = head / (args.q.shape[1] / args.k_cache.shape[2]);
  const int64_t begin = args.window > 0 ? std::max<int64_t>(0, position - args.window + 1) : 0;
  const float* q = at<float>(args.q, row, head);
  const double sink = args.sinks.is_present() ? host_data<float>(args.sinks)[head] : -INFINITY;
  double largest = sink;
  for (int64_t p = begin; p <= position; ++p)
    largest = std::max(largest, score(args, q, cache_index(args.k_cache, blocks, p, kv_head)));
  double total = std::exp(sink - largest), out[kMaxHeadDim] = {};
  for (int64_t p = begin; p <= position; ++p) {
    const double weight = std::exp(score(args, q, cache_index(args.k_cache, blocks, p, kv_head)) - largest);
    const int64_t v = cache_index(args.v_cache, blocks, p, kv_head);
    total += weight;
    for (int64_t i = 0; i < dim; ++i) out[i] += weight * cache_element(args.v_cache, v, dim, i);
  }
  for (int64_t i = 0; i < dim; ++i) at<float>(args.out, row, head)[i] = static_cast<float>(out[i] / total);
}

}  // namespace

void run(const PagedAttentionArgs& args) noexcept {
  const SequenceArgs& s = args.sequences;
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b)
    for (int64_t row = bounds[b]; row < bounds[b + 1]; ++row)
      for (int64_t head = 0; head < args.q.shape[1]; ++head)
        attend(args, at<int32_t>(s.block_tables, b), row, head,
               host_data<int32_t>(s.context_lens)[b] - (args.is_causal ? bounds[b + 1] - row : 1));
}

}  // namespace pagoda::device::reference

// cache_index_keys, select_blocks and block_attention, in double precision.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "device/reference/paged_rows.h"
#include "device/reference/reference_ops.h"

namespace pagoda::device::reference {
namespace {

// Calls body(row, position, blocks of the sequence) for every row, in order.
template <class Body>
void for_rows(const SequenceArgs& s, Body&& body) {
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b)
    for (int64_t row = bounds[b]; row < bounds[b + 1]; ++row)
      body(row, host_data<int32_t>(s.context_lens)[b] - (bounds[b + 1] - row), at<int32_t>(s.block_tables, b));
}

float* index_row(const Tensor& cache, const int32_t* blocks, int64_t position) noexcept {
  return at<float>(cache, blocks[position / cache.shape[1]], position % cache.shape[1]);
}

void write_block_key(const CacheIndexKeysArgs& args, const int32_t* blocks, int64_t row, int64_t last) noexcept {
  const int64_t dim = args.x.shape[1], half = args.inv_freq.shape[0], first = last - args.ratio + 1;
  double key[kMaxHeadDim], squares = 0;
  for (int64_t i = 0; i < dim; ++i) {
    key[i] = at<float>(args.x, row)[i];
    for (int64_t p = first; p < last; ++p) key[i] += index_row(args.cache, blocks, p)[i];
    key[i] /= static_cast<double>(args.ratio);
    squares += key[i] * key[i];
  }
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(dim) + args.eps);
  for (int64_t i = 0; i < dim; ++i)
    key[i] *= scale * (static_cast<double>(host_data<float>(args.weight)[i]) + args.weight_offset);
  for (int64_t i = 0; i < half; ++i) {
    const double angle = static_cast<float>(first) * host_data<float>(args.inv_freq)[i];  // a float, as in qk_norm_rope
    const double a = key[i], b = key[i + half], c = std::cos(angle), s = std::sin(angle);
    key[i] = a * c - b * s;
    key[i + half] = b * c + a * s;
  }
  std::transform(key, key + dim, index_row(args.cache, blocks, last), [](double x) { return static_cast<float>(x); });
}

// The tokens that a row attends to, in order.
std::vector<int64_t> tokens_of(const BlockAttentionArgs& args, int64_t row, int64_t position) {
  std::vector<int64_t> tokens;
  const int32_t* chosen = at<int32_t>(args.blocks, row);
  for (int64_t i = 0; i < args.blocks.shape[1] && chosen[i] >= 0; ++i)
    for (int64_t j = 0; j < args.ratio; ++j) tokens.push_back(chosen[i] * args.ratio + j);
  for (int64_t p = (position + 1) / args.ratio * args.ratio; p <= position; ++p) tokens.push_back(p);
  return tokens;
}

}  // namespace

void run(const CacheIndexKeysArgs& args) noexcept {
  for_rows(args.sequences, [&](int64_t row, int64_t position, const int32_t* blocks) {
    if ((position + 1) % args.ratio == 0) write_block_key(args, blocks, row, position);
    else std::copy_n(at<float>(args.x, row), args.x.shape[1], index_row(args.cache, blocks, position));
  });
}

void run(const SelectBlocksArgs& args) noexcept {
  for_rows(args.sequences, [&](int64_t row, int64_t position, const int32_t* blocks) {
    std::vector<std::pair<double, int32_t>> order;  // best first: the lowest score negated, then the first block
    for (int64_t block = 0; block < (position + 1) / args.ratio; ++block) {
      const float* key = index_row(args.cache, blocks, (block + 1) * args.ratio - 1);
      double score = 0;
      for (int64_t head = 0; head < args.q.shape[1]; ++head) {
        double product = 0;
        for (int64_t i = 0; i < args.q.shape[2]; ++i)
          product += static_cast<double>(at<float>(args.q, row, head)[i]) * key[i];
        score += std::max(product, 0.0);
      }
      order.emplace_back(-score, static_cast<int32_t>(block));
    }
    std::ranges::sort(order);
    const auto count = std::min(order.size(), static_cast<size_t>(args.out.shape[1]));
    int32_t* out = at<int32_t>(args.out, row);
    std::fill_n(out, args.out.shape[1], -1);
    for (size_t i = 0; i < count; ++i) out[i] = order[i].second;
    std::sort(out, out + count);
  });
}

void run(const BlockAttentionArgs& args) noexcept {
  const int64_t heads = args.q.shape[1], dim = args.q.shape[2], group = heads / args.k_cache.shape[2];
  for_rows(args.sequences, [&](int64_t row, int64_t position, const int32_t* blocks) {
    const std::vector<int64_t> tokens = tokens_of(args, row, position);
    std::vector<double> scores(tokens.size());
    for (int64_t head = 0; head < heads; ++head) {
      const auto element = [&](const Tensor& cache, int64_t token, int64_t i) {
        return cache_element(cache, cache_index(cache, blocks, token, head / group), dim, i);
      };
      for (size_t t = 0; t < tokens.size(); ++t) {
        double product = 0;
        for (int64_t i = 0; i < dim; ++i)
          product += at<float>(args.q, row, head)[i] * element(args.k_cache, tokens[t], i);
        scores[t] = product * args.scale;
      }
      const double largest = *std::ranges::max_element(scores);
      double total = 0;
      for (double& score : scores) total += score = std::exp(score - largest);
      for (int64_t i = 0; i < dim; ++i) {
        double sum = 0;
        for (size_t t = 0; t < tokens.size(); ++t) sum += scores[t] * element(args.v_cache, tokens[t], i);
        at<float>(args.out, row, head)[i] = static_cast<float>(sum / total);
      }
    }
  });
}

}  // namespace pagoda::device::reference

// cache_index_keys and select_blocks. Raw keys are written before any block's key is computed from them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/concat.h"
#include "device/cpu/cpu_ops.h"
#include "device/cpu/ops/sequence_rows.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

constexpr int64_t kBlocksPerTask = 64;

float* index_row(const Tensor& cache, const SequenceArgs& s, int64_t sequence, int64_t position) noexcept {
  const int32_t block = at<int32_t>(s.block_tables, sequence)[position / cache.shape[1]];
  return at<float>(cache, block, position % cache.shape[1]);
}

void write_block_key(const Context& context, const CacheIndexKeysArgs& args, int64_t row) noexcept {
  const SequenceRow last = find_row(args.sequences, row);
  const int64_t dim = args.x.shape[1], half = args.inv_freq.shape[0], first = last.position - args.ratio + 1;
  alignas(64) float key[kMaxHeadDim] = {}, cos[kMaxHeadDim / 2], sin[kMaxHeadDim / 2];
  for (int64_t p = first; p < last.position; ++p)
    context.kernels->add_scaled(index_row(args.cache, args.sequences, last.sequence, p), 1.0f, dim, key);
  context.kernels->add_scaled(at<float>(args.x, row), 1.0f, dim, key);
  for (int64_t i = 0; i < dim; ++i) key[i] /= static_cast<float>(args.ratio);
  for (int64_t i = 0; i < half; ++i) {
    const float angle = static_cast<float>(first) * host_data<float>(args.inv_freq)[i];
    cos[i] = std::cos(angle);
    sin[i] = std::sin(angle);
  }
  context.kernels->norm_rope({key, nullptr, host_data<float>(args.weight), args.eps, args.weight_offset,
                              index_row(args.cache, args.sequences, last.sequence, last.position), dim},
                             {cos, sin, half});
}

int64_t complete_blocks(const SelectBlocksArgs& args, int64_t row) noexcept {
  return (find_row(args.sequences, row).position + 1) / args.ratio;
}

void score_blocks(const Context& context, const SelectBlocksArgs& args, int64_t row, int64_t first, int64_t end,
                  float* scores) noexcept {
  const int64_t sequence = find_row(args.sequences, row).sequence;
  for (int64_t block = first; block < end; ++block) {
    const float* key = index_row(args.cache, args.sequences, sequence, (block + 1) * args.ratio - 1);
    scores[block] = context.kernels->index_score(
        {at<float>(args.q, row), key, args.q.strides[1], args.q.shape[1], args.q.shape[2]});
  }
}

// Keeps the best blocks in a heap with the worst in front; of equal ones the last is the worst.
void choose(const float* scores, int64_t num_blocks, const SelectBlocksArgs& args, int64_t row) noexcept {
  int32_t* out = at<int32_t>(args.out, row);
  const int64_t wanted = args.out.shape[1], count = std::min(wanted, num_blocks);
  const auto is_better = [&](int32_t a, int32_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; };
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int32_t>(i);
  std::fill(out + count, out + wanted, -1);
  if (num_blocks <= wanted) return;
  std::make_heap(out, out + count, is_better);
  for (int64_t block = count; block < num_blocks; ++block) {
    if (!is_better(static_cast<int32_t>(block), out[0])) continue;
    std::pop_heap(out, out + count, is_better);
    out[count - 1] = static_cast<int32_t>(block);
    std::push_heap(out, out + count, is_better);
  }
  std::sort(out, out + count);
}

}  // namespace

void run(const Context& context, const CacheIndexKeysArgs& args) noexcept {
  const int64_t rows = args.x.shape[0], dim = args.x.shape[1];
  const auto is_last = [&](int64_t row) { return (find_row(args.sequences, row).position + 1) % args.ratio == 0; };
  context.for_each(rows, dim, [&](int64_t row, int) {
    const SequenceRow at_row = find_row(args.sequences, row);
    if (is_last(row)) return;
    std::memcpy(index_row(args.cache, args.sequences, at_row.sequence, at_row.position), at<float>(args.x, row),
                static_cast<size_t>(dim) * sizeof(float));
  });
  context.for_each(rows, 4 * dim, [&](int64_t row, int) {
    if (is_last(row)) write_block_key(context, args, row);
  });
}

// As many rows at a time as have room for the scores of their blocks. Rows that keep all of their blocks need none.
Status run(const Context& context, const SelectBlocksArgs& args) noexcept {
  const int64_t num_rows = args.q.shape[0], row_cost = args.q.shape[1] * args.q.shape[2];
  int64_t most = 0;
  for (int64_t row = 0; row < num_rows; ++row) most = std::max(most, complete_blocks(args, row));
  if (most > context.partials_size())
    return make_error(StatusCode::unsupported, concat("select_blocks: ", most, " blocks have more scores than the ",
                                                      context.partials_size(), " that fit the scratch memory"));
  const int64_t group = context.partials_size() / std::max<int64_t>(most, 1);
  const int64_t parts = (most + kBlocksPerTask - 1) / kBlocksPerTask;
  for (int64_t begin = 0; begin < num_rows; begin += group) {
    const int64_t count = std::min(group, num_rows - begin);
    const auto scores_of = [&](int64_t row) { return context.partials() + (row - begin) * most; };
    if (most > args.out.shape[1])
      context.for_each(count * parts, kBlocksPerTask * row_cost, [&](int64_t index, int) {
        const int64_t row = begin + index / parts, first = index % parts * kBlocksPerTask;
        const int64_t all = complete_blocks(args, row);
        if (all > args.out.shape[1])
          score_blocks(context, args, row, first, std::min(first + kBlocksPerTask, all), scores_of(row));
      });
    context.for_each(count, 4 * most, [&](int64_t index, int) {
      choose(scores_of(begin + index), complete_blocks(args, begin + index), args, begin + index);
    });
  }
  return ok_status();
}

}  // namespace pagoda::device::cpu

// paged_attention: a task per tile of rows of a sequence and KV head (or, when those are few, head).
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <algorithm>

namespace pagoda::device::cpu {

using host::at;

namespace {

// How rows and heads are cut into tasks. Bits do not depend on it.
struct Split {
  int64_t heads_per_task, rows_per_task;
};

int64_t count_tiles(const SequenceArgs& s, int64_t rows_per_task) noexcept {
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  int64_t tiles = 0;
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b)
    tiles += (bounds[b + 1] - bounds[b] + rows_per_task - 1) / rows_per_task;
  return tiles;
}

// Heads of a KV head share its keys in one task unless that leaves threads idle.
Split choose_split(const Context& context, const PagedAttentionArgs& args) noexcept {
  const int64_t kv_heads = args.k_cache.shape[2];
  int64_t heads = std::min<int64_t>(args.q.shape[1] / kv_heads, kMaxQueries);
  while (args.q.shape[1] / kv_heads % heads != 0) --heads;
  int64_t rows = kMaxQueries / heads;
  const int64_t tasks = count_tiles(args.sequences, rows) * (args.q.shape[1] / heads);
  return tasks >= context.pool->num_threads() ? Split{heads, rows} : Split{1, kMaxQueries};
}

AttentionTile make_tile(const PagedAttentionArgs& args, int64_t sequence, int64_t row, int64_t rows, int64_t head,
                        int64_t heads) noexcept {
  const SequenceArgs& s = args.sequences;
  const int64_t end = host_data<int32_t>(s.cu_seqlens)[sequence + 1],
                position = host_data<int32_t>(s.context_lens)[sequence] - (end - row);
  const int64_t kv_head = head / (args.q.shape[1] / args.k_cache.shape[2]);
  const int64_t bytes = static_cast<int64_t>(dtype_bytes(args.k_cache.dtype));
  const Tensor &k = args.k_cache, &v = args.v_cache;
  return {at<float>(args.q, row, head),
          args.q.strides[0],
          args.q.strides[1],
          at<float>(args.out, row, head),
          args.out.strides[0],
          args.out.strides[1],
          rows,
          heads,
          args.q.shape[2],
          position,
          host_data<std::byte>(k) + kv_head * k.strides[2] * bytes,
          k.strides[0],
          k.strides[1],
          host_data<std::byte>(v) + kv_head * v.strides[2] * bytes,
          v.strides[0],
          v.strides[1],
          at<int32_t>(s.block_tables, sequence),
          k.shape[1],
          args.scale,
          args.window,
          nullptr};
}

}  // namespace

void paged_attention(const Context& context, const PagedAttentionArgs& args) noexcept {
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens);
  const Split split = choose_split(context, args);
  const int64_t head_tasks = args.q.shape[1] / split.heads_per_task,
                tiles = count_tiles(args.sequences, split.rows_per_task);
  context.for_each(tiles * head_tasks, /*cost=*/50000, [&](int64_t index, int thread) {
    // Last tiles first: they see the most positions. Heads vary fastest.
    int64_t tile = tiles - 1 - index / head_tasks, sequence = 0, row = 0;
    for (;; ++sequence) {
      const int64_t here = (bounds[sequence + 1] - bounds[sequence] + split.rows_per_task - 1) / split.rows_per_task;
      row = bounds[sequence] + tile * split.rows_per_task;
      if (tile < here) break;
      tile -= here;
    }
    const int64_t rows = std::min<int64_t>(split.rows_per_task, bounds[sequence + 1] - row);
    AttentionTile work =
        make_tile(args, sequence, row, rows, index % head_tasks * split.heads_per_task, split.heads_per_task);
    work.scratch = context.scratch_of(thread);
    context.kernels->attention[format_of(args.k_cache.dtype)](work);
  });
}

}  // namespace pagoda::device::cpu

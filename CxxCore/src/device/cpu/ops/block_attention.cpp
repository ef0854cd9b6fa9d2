// block_attention: the kernels of paged_attention, over a table of the chosen tokens for every row. The blocks of that
// table are the largest parts that divide both a chosen block and a block of the cache.
#include <algorithm>
#include <numeric>

#include "device/cpu/cpu_ops.h"
#include "device/cpu/ops/sequence_rows.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

static_assert(sizeof(float) == sizeof(int32_t));
// Entries of a table: at least a token each, chosen or in the incomplete block.
static_assert(2 * kMaxIndexBudget <= kPartialsScratch);

struct Table {
  int32_t* parts;      // in the cache, whose blocks are several parts in a row
  int64_t num_tokens;  // of the row; the last part may have more
};

Table make_table(const BlockAttentionArgs& args, int64_t row, int64_t part_size, int32_t* memory) noexcept {
  const SequenceRow at_row = find_row(args.sequences, row);
  const int32_t* blocks = at<int32_t>(args.sequences.block_tables, at_row.sequence);
  const int32_t* chosen = at<int32_t>(args.blocks, row);
  const int64_t block_size = args.k_cache.shape[1];
  const int64_t parts_per_block = args.k_cache.strides[0] / (part_size * args.k_cache.strides[1]);
  Table table{memory, 0};
  int64_t num_parts = 0;
  const auto add = [&](int64_t first, int64_t end) {
    for (int64_t p = first; p < end; p += part_size)
      memory[num_parts++] = static_cast<int32_t>(blocks[p / block_size] * parts_per_block + p % block_size / part_size);
    table.num_tokens += end - first;
  };
  for (int64_t i = 0; i < args.blocks.shape[1] && chosen[i] >= 0; ++i)
    add(chosen[i] * args.ratio, (chosen[i] + 1) * args.ratio);
  add((at_row.position + 1) / args.ratio * args.ratio, at_row.position + 1);
  return table;
}

}  // namespace

void run(const Context& context, const BlockAttentionArgs& args) noexcept {
  const Tensor &q = args.q, &out = args.out, &k = args.k_cache, &v = args.v_cache;
  const int64_t group = q.shape[1] / k.shape[2], part_size = std::gcd(args.ratio, k.shape[1]);
  int64_t heads = std::min<int64_t>(group, kMaxQueries);
  while (group % heads != 0) --heads;
  const int64_t tasks = q.shape[1] / heads, bytes = static_cast<int64_t>(dtype_bytes(k.dtype));
  const int64_t tokens = args.blocks.shape[1] * args.ratio;
  const auto attend = context.kernels->attention[kv_format_of(k.dtype)];
  context.for_each(q.shape[0] * tasks, tokens * q.shape[2] * heads, [&](int64_t index, int thread) {
    const int64_t row = index / tasks, head = index % tasks * heads, kv_head = head / group;
    auto* memory = reinterpret_cast<int32_t*>(context.partials() + thread * kPartialsScratch);
    const Table table = make_table(args, row, part_size, memory);
    attend({.q = at<float>(q, row, head),
            .q_row_stride = q.strides[0],
            .q_head_stride = q.strides[1],
            .out = at<float>(out, row, head),
            .out_row_stride = out.strides[0],
            .out_head_stride = out.strides[1],
            .rows = 1,
            .num_heads = heads,
            .dim = q.shape[2],
            .first_position = table.num_tokens - 1,
            .k = host_data<std::byte>(k) + kv_head * k.strides[2] * bytes,
            .k_block_stride = part_size * k.strides[1],
            .k_row_stride = k.strides[1],
            .v = host_data<std::byte>(v) + kv_head * v.strides[2] * bytes,
            .v_block_stride = part_size * v.strides[1],
            .v_row_stride = v.strides[1],
            .blocks = table.parts,
            .block_size = part_size,
            .scale = args.scale,
            .window = 0,
            .scratch = context.scratch_of(thread),
            .stride = 1,
            .softcap = 0,
            .sinks = nullptr,
            .value_dim = out.shape[2],
            .is_causal = true});
  });
}

}  // namespace pagoda::device::cpu

// paged_attention: a task per tile of rows of a sequence and KV head. Tasks larger than a thread's share (one long
// decode) are split at partition boundaries and merged afterwards. The split does not affect bits.
#include <algorithm>

#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

int64_t round_up_div(int64_t a, int64_t b) noexcept { return (a + b - 1) / b; }

class Plan {
 public:
  Plan(const Context& context, const PagedAttentionArgs& args) noexcept : args_(args) {
    const int64_t heads = args.q.shape[1], group = heads / args.k_cache.shape[2];
    heads_ = std::min<int64_t>(group, kMaxQueries);
    while (group % heads_ != 0) --heads_;
    rows_ = kMaxQueries / heads_;
    head_tasks_ = heads / heads_;
    const int num_threads = context.pool->num_threads();
    for (int64_t b = 0; b < num_sequences(); ++b) num_positions_ += num_tasks(b) * positions(b).count();
    if (num_threads > 1) share_ = num_positions_ / (4 * num_threads);
    for (int64_t b = 0; b < num_sequences(); ++b)
      if (is_split(b)) split_rows_ = std::max(split_rows_, std::min(num_rows(b), rows_));
    if (num_partials() * partial_size() > context.partials_size()) share_ = -1;
  }

  // A task, or one partition of it.
  struct Item {
    int64_t sequence, tile, head_task;
    int64_t partition;      // -1: all of them
    int64_t part;           // index of this partition in the task
    int64_t num_parts;      // partitions of the task
    int64_t first_partial;  // index of the task's first partial result among those of all split tasks
  };

  int64_t num_items() const noexcept {
    int64_t n = 0;
    for (int64_t b = 0; b < num_sequences(); ++b) n += num_tasks(b) * num_parts(b);
    return n;
  }
  int64_t num_split_tasks() const noexcept {
    int64_t n = 0;
    for (int64_t b = 0; b < num_sequences(); ++b) n += is_split(b) ? num_tasks(b) : 0;
    return n;
  }
  int64_t cost() const noexcept { return num_positions_ * args_.q.shape[2] * heads_; }

  Item item(int64_t index) const noexcept {
    int64_t b = 0, partial = 0;
    for (; index >= num_tasks(b) * num_parts(b); ++b) {
      index -= num_tasks(b) * num_parts(b);
      if (is_split(b)) partial += num_tasks(b) * num_parts(b);
    }
    const int64_t parts = num_parts(b), task = index / parts;
    return {b,
            task / head_tasks_,
            task % head_tasks_,
            is_split(b) ? positions(b).begin / kPartition + index % parts : -1,
            index % parts,
            parts,
            partial + task * parts};
  }
  // The first part of a split task.
  Item split_task(int64_t index) const noexcept {
    int64_t b = 0, first = 0;
    for (;; ++b) {
      if (is_split(b) && index < num_tasks(b)) return item(first + index * num_parts(b));
      if (is_split(b)) index -= num_tasks(b);
      first += num_tasks(b) * num_parts(b);
    }
  }

  AttentionTile tile(const Item& item, float* scratch) const noexcept;
  // Upper bound for the floats of a partial result.
  int64_t partial_size() const noexcept { return partial_floats(split_rows_ * heads_, args_.out.shape[2]); }

 private:
  struct Positions {
    int64_t begin, end;
    int64_t count() const noexcept { return end - begin; }
  };

  const int32_t* bounds() const noexcept { return host_data<int32_t>(args_.sequences.cu_seqlens); }
  int64_t num_sequences() const noexcept { return args_.sequences.context_lens.shape[0]; }
  int64_t num_rows(int64_t b) const noexcept { return bounds()[b + 1] - bounds()[b]; }
  int64_t num_tasks(int64_t b) const noexcept { return round_up_div(num_rows(b), rows_) * head_tasks_; }

  // Positions that the rows of a sequence see.
  Positions positions(int64_t b) const noexcept {
    const int64_t end = host_data<int32_t>(args_.sequences.context_lens)[b];
    const int64_t oldest = args_.window > 0 ? end - num_rows(b) - args_.window + 1 : 0;
    return {std::max<int64_t>(oldest, 0), end};
  }
  bool is_split(int64_t b) const noexcept { return share_ >= 0 && positions(b).count() > share_; }
  int64_t num_parts(int64_t b) const noexcept {
    if (!is_split(b)) return 1;
    const Positions seen = positions(b);
    return round_up_div(seen.end, kPartition) - seen.begin / kPartition;
  }
  int64_t num_partials() const noexcept {
    int64_t n = 0;
    for (int64_t b = 0; b < num_sequences(); ++b) n += is_split(b) ? num_tasks(b) * num_parts(b) : 0;
    return n;
  }

  const PagedAttentionArgs& args_;
  int64_t heads_, rows_, head_tasks_;  // per task; tasks per row
  int64_t num_positions_ = 0;          // over all tasks
  int64_t share_ = -1;                 // tasks that see more positions are split; -1: none are
  int64_t split_rows_ = 0;             // most rows of any split task
};

AttentionTile Plan::tile(const Item& item, float* scratch) const noexcept {
  const SequenceArgs& s = args_.sequences;
  const Tensor &q = args_.q, &out = args_.out, &k = args_.k_cache, &v = args_.v_cache;
  const int64_t row = bounds()[item.sequence] + item.tile * rows_, end = bounds()[item.sequence + 1];
  const int64_t head = item.head_task * heads_, kv_head = head / (q.shape[1] / k.shape[2]);
  const int64_t bytes = static_cast<int64_t>(dtype_bytes(k.dtype));
  return {at<float>(q, row, head),
          q.strides[0],
          q.strides[1],
          at<float>(out, row, head),
          out.strides[0],
          out.strides[1],
          std::min(rows_, end - row),
          heads_,
          q.shape[2],
          host_data<int32_t>(s.context_lens)[item.sequence] - (args_.is_causal ? end - row : 1),
          host_data<std::byte>(k) + kv_head * k.strides[2] * bytes,
          k.strides[0],
          k.strides[1],
          host_data<std::byte>(v) + kv_head * v.strides[2] * bytes,
          v.strides[0],
          v.strides[1],
          at<int32_t>(s.block_tables, item.sequence),
          k.shape[1],
          args_.scale,
          args_.window,
          scratch,
          item.partition < 0 ? 1 : -1,  // a thread takes items from the last to the first
          args_.softcap,
          args_.sinks.is_present() ? host_data<float>(args_.sinks) + head : nullptr,
          out.shape[2],
          args_.is_causal};
}

}  // namespace

void run(const Context& context, const PagedAttentionArgs& args) noexcept {
  const Plan plan(context, args);
  const Kernels& kernels = *context.kernels;
  const int format = kv_format_of(args.k_cache.dtype);
  const int64_t num_items = plan.num_items(), num_split = plan.num_split_tasks();
  context.for_each(num_items, plan.cost() / std::max<int64_t>(num_items, 1), [&](int64_t index, int thread) {
    const Plan::Item item = plan.item(num_items - 1 - index);  // last tiles first: they see the most positions
    const AttentionTile tile = plan.tile(item, context.scratch_of(thread));
    if (item.partition < 0) return kernels.attention[format](tile);
    // Partial results of a task are contiguous, each as long as this tile needs.
    float* partials = context.partials() + item.first_partial * plan.partial_size();
    const int64_t size = partial_floats(tile.rows * tile.num_heads, tile.value_dim);
    kernels.attend_partition[format](tile, item.partition, partials + item.part * size);
  });
  if (num_split == 0) return;
  context.for_each(num_split, plan.cost() / kPartition / num_split, [&](int64_t index, int thread) {
    const Plan::Item item = plan.split_task(index);
    kernels.merge_partials(plan.tile(item, context.scratch_of(thread)),
                           context.partials() + item.first_partial * plan.partial_size(), item.num_parts);
  });
}

}  // namespace pagoda::device::cpu

// Names and limits of the entries; their costs are those of device/op_cost.h.
#include "device/cpu/profile.h"

#include "base/concat.h"

namespace pagoda::device::cpu {
namespace {

// With one row per sequence, an op is bound by reading caches and states.
OpLimit limit_of(const Tensor& q, const SequenceArgs& sequences) noexcept {
  return q.shape[0] == sequences.context_lens.shape[0] ? OpLimit::read : OpLimit::f32;
}

}  // namespace

OpTime* Profile::add(const std::string& name, const OpCost& cost, OpLimit kind) {
  OpTime* entry = nullptr;
  for (OpTime& existing : entries_)
    if (existing.name == name) entry = &existing;
  if (entry == nullptr) {
    entry = &entries_.emplace_back();
    entry->name = name;
    entry->kind = kind;
  }
  ++entry->calls;
  entry->bytes += cost.bytes;
  entry->operations += cost.operations;
  return entry;
}

Profile::Timer Profile::start(const MatmulArgs& args) {
  if (!enabled_) return {};
  const WeightFormat format = args.weight->format();
  const bool is_few = args.x.shape[0] <= 4;  // few rows per weight: bound by reading it
  const OpLimit kind = is_few                         ? OpLimit::read
                       : is_quantised(format)         ? OpLimit::int8
                       : format == WeightFormat::bf16 ? OpLimit::bf16
                                                      : OpLimit::f32;
  const std::string shape = concat(args.weight->rows(), "x", args.weight->cols());
  return Timer(add("matmul " + shape + (args.silu_mul ? " silu" : ""), op_cost(args), kind));
}

Profile::Timer Profile::start(const PagedAttentionArgs& args) {
  if (!enabled_) return {};
  return Timer(add("paged_attention", op_cost(args), limit_of(args.q, args.sequences)));
}

Profile::Timer Profile::start(const LatentAttentionArgs& args) {
  if (!enabled_) return {};
  return Timer(add("latent_attention", op_cost(args), limit_of(args.q, args.sequences)));
}

Profile::Timer Profile::start(const CausalConv1dArgs& args) {
  if (!enabled_) return {};
  return Timer(add("causal_conv1d", op_cost(args), OpLimit::read));
}

Profile::Timer Profile::start(const GdnArgs& args) {
  if (!enabled_) return {};
  return Timer(add("gdn", op_cost(args), limit_of(args.q, args.sequences)));
}

Profile::Timer Profile::start(const KdaArgs& args) {
  if (!enabled_) return {};
  return Timer(add("kda", op_cost(args), limit_of(args.q, args.sequences)));
}

Profile::Timer Profile::start(const DilatedConvArgs& args) {
  if (!enabled_) return {};
  return Timer(add("dilated_conv", op_cost(args), OpLimit::read));
}

Profile::Timer Profile::start(const SelectBlocksArgs& args) {
  if (!enabled_) return {};
  return Timer(add("select_blocks", op_cost(args), limit_of(args.q, args.sequences)));
}

Profile::Timer Profile::start(const BlockAttentionArgs& args) {
  if (!enabled_) return {};
  return Timer(add("block_attention", op_cost(args), limit_of(args.q, args.sequences)));
}

Profile::Timer Profile::start(const ExpertMatmulArgs& args, int64_t num_used) {
  if (!enabled_) return {};
  return Timer(add(args.silu_mul ? "expert_matmul silu" : "expert_matmul", op_cost(args, num_used), OpLimit::read));
}

Profile::Timer Profile::start_rows(int64_t num_rows, int64_t floats_per_row) {
  if (!enabled_) return {};
  const double floats = static_cast<double>(num_rows * floats_per_row);
  return Timer(add("row ops", {.bytes = 4 * floats, .operations = floats}, OpLimit::read));
}

}  // namespace pagoda::device::cpu

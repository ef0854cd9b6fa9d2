// Lower bounds of the memory traffic and arithmetic of each op.
#include "device/cpu/profile.h"

#include <utility>

namespace pagoda::device::cpu {
namespace {

// Number of (query, key) pairs of a step: the positions that all its rows see.
double visible_positions(const SequenceArgs& sequences, int64_t window) noexcept {
  const int32_t* bounds = host_data<int32_t>(sequences.cu_seqlens);
  double total = 0;
  for (int64_t b = 0; b < sequences.context_lens.shape[0]; ++b)
    for (int64_t r = 0, rows = bounds[b + 1] - bounds[b]; r < rows; ++r) {
      const int64_t seen = host_data<int32_t>(sequences.context_lens)[b] - rows + r + 1;
      total += static_cast<double>(window > 0 && seen > window ? window : seen);
    }
  return total;
}

// Positions in the caches of all sequences.
double cached_positions(const SequenceArgs& sequences) noexcept {
  double total = 0;
  for (int64_t b = 0; b < sequences.context_lens.shape[0]; ++b) total += host_data<int32_t>(sequences.context_lens)[b];
  return total;
}

}  // namespace

OpTime* Profile::add(const std::string& name, double bytes, double operations, OpLimit kind) {
  OpTime* entry = nullptr;
  for (OpTime& known : entries_)
    if (known.name == name) entry = &known;
  if (entry == nullptr) {
    entry = &entries_.emplace_back();
    entry->name = name;
    entry->kind = kind;
  }
  ++entry->calls;
  entry->bytes += bytes;
  entry->operations += operations;
  return entry;
}

Profile::Timer Profile::start(const MatmulArgs& args) {
  if (!enabled_) return {};
  const double m = static_cast<double>(args.x.shape[0]), n = static_cast<double>(args.weight->rows()),
               k = static_cast<double>(args.weight->cols());
  const WeightFormat format = args.weight->format();
  const bool is_few = m <= 4;  // few rows per weight: bound by reading it
  const OpLimit kind = is_few                         ? OpLimit::read
                       : is_quantised(format)         ? OpLimit::int8
                       : format == WeightFormat::bf16 ? OpLimit::bf16
                                                      : OpLimit::f32;
  const std::string shape = std::to_string(args.weight->rows()) + "x" + std::to_string(args.weight->cols());
  return Timer(add("matmul " + shape + (args.silu_mul ? " silu" : ""),
                   static_cast<double>(args.weight->size_bytes()) + 4 * m * (n + k), 2 * m * n * k, kind));
}

Profile::Timer Profile::start(const PagedAttentionArgs& args) {
  if (!enabled_) return {};
  const Tensor& k = args.k_cache;
  const double cached = cached_positions(args.sequences);
  const double row_bytes = static_cast<double>(k.shape[2] * k.strides[2]) * static_cast<double>(dtype_bytes(k.dtype));
  const double positions = visible_positions(args.sequences, args.window);
  return Timer(add("paged_attention", 2 * cached * row_bytes,
                   4 * positions * static_cast<double>(args.q.shape[1] * args.q.shape[2]),
                   args.q.shape[0] == args.sequences.context_lens.shape[0] ? OpLimit::read : OpLimit::f32));
}

Profile::Timer Profile::start(const LatentAttentionArgs& args) {
  if (!enabled_) return {};
  const double row_bytes =
      static_cast<double>(args.cache.strides[1]) * static_cast<double>(dtype_bytes(args.cache.dtype));
  return Timer(add("latent_attention", cached_positions(args.sequences) * row_bytes,
                   2 * visible_positions(args.sequences, 0) *
                       static_cast<double>(args.q.shape[1] * (args.q.shape[2] + args.out.shape[2])),
                   args.q.shape[0] == args.sequences.context_lens.shape[0] ? OpLimit::read : OpLimit::f32));
}

Profile::Timer Profile::start(const CausalConv1dArgs& args) {
  if (!enabled_) return {};
  const double elements = static_cast<double>(args.x.shape[0] * args.x.shape[1]);
  return Timer(
      add("causal_conv1d", 8 * elements, 2 * elements * static_cast<double>(args.weight.shape[0]), OpLimit::read));
}

Profile::Timer Profile::start(const GdnArgs& args) {
  return start_delta_rule("gdn", args.q, args.v, args.sequences, args.state);
}

Profile::Timer Profile::start(const KdaArgs& args) {
  return start_delta_rule("kda", args.q, args.v, args.sequences, args.state);
}

Profile::Timer Profile::start_delta_rule(const char* name, const Tensor& q, const Tensor& v,
                                         const SequenceArgs& sequences, const Tensor& pool) {
  if (!enabled_) return {};
  const double rows = static_cast<double>(q.shape[0]), slots = static_cast<double>(pool.shape[0]),
               state = static_cast<double>(v.shape[1] * q.shape[2] * v.shape[2]);
  // Two products with the state per row, and its update once per block; within a block, half of it on average.
  const double inside = static_cast<double>(v.shape[1] * v.shape[2] * kGdnBlock);
  const bool is_decode = q.shape[0] == sequences.context_lens.shape[0];
  return Timer(add(name, 4 * state * (is_decode ? rows : slots), rows * (6 * state + 2 * inside),
                   is_decode ? OpLimit::read : OpLimit::f32));
}

Profile::Timer Profile::start(const ExpertMatmulArgs& args, int64_t num_used) {
  if (!enabled_) return {};
  const double m = static_cast<double>(args.out.shape[0]), k = static_cast<double>(args.weight->cols());
  const double n = static_cast<double>(args.weight->rows() / args.num_experts);
  const double part = static_cast<double>(num_used) / static_cast<double>(args.num_experts);
  return Timer(add(args.silu_mul ? "expert_matmul silu" : "expert_matmul",
                   part * static_cast<double>(args.weight->size_bytes()) + 4 * m * (n + k), 2 * m * n * k,
                   OpLimit::read));
}

Profile::Timer Profile::start_rows(int64_t num_rows, int64_t floats_per_row) {
  if (!enabled_) return {};
  const double floats = static_cast<double>(num_rows * floats_per_row);
  return Timer(add("row ops", 4 * floats, floats, OpLimit::read));
}

}  // namespace pagoda::device::cpu

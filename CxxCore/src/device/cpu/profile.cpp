// Names and limits of the entries; their costs are those of device/op_cost.h.
#include "device/cpu/profile.h"

#include "base/concat.h"

namespace pagoda::device::cpu {
namespace {

// With one row per sequence, an op is bound by reading caches and states.
template <class Args>
OpLimit limit_of(const Args& a) noexcept {
  if constexpr (requires { a.q.shape, a.sequences; })
    return a.q.shape[0] == a.sequences.context_lens.shape[0] ? OpLimit::read : OpLimit::f32;
  else return OpLimit::read;
}
OpLimit limit_of(const MatmulArgs& a) noexcept {
  const WeightFormat format = a.weight->format();
  const bool is_few = a.x.shape[0] <= 4;  // few rows per weight: bound by reading it
  return is_few                         ? OpLimit::read
         : is_quantised(format)         ? OpLimit::int8
         : format == WeightFormat::bf16 ? OpLimit::bf16
                                        : OpLimit::f32;
}

template <class Args>
std::string name_of(const Args& a) {
  return a.kName;
}
std::string name_of(const MatmulArgs& a) {
  return concat("matmul ", a.weight->rows(), "x", a.weight->cols(), a.silu_mul ? " silu" : "");
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

Profile::Timer Profile::start(OpRef op) {
  if (!enabled_) return {};
  return op.visit([&](const auto& a) { return Timer(add(name_of(a), op_cost(a), limit_of(a))); });
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

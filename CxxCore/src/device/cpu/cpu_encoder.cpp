// Execution order of ops on the CPU device.
#include "device/cpu/cpu_encoder.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/concat.h"

namespace pagoda::device::cpu {
namespace {

constexpr int64_t kMaxRowsPerTask = 16;
// Minimum floats of row ops to share with other threads, about 10 us of work. Sharing costs a quarter of that while
// the other threads spin, but twenty times as much if other programs keep the cores busy, and a step does so a
// hundred times: the few rows of one sequence are not worth it.
constexpr int64_t kMinSharedFloats = 16000;

// The rows of a row op, and its work for one of them, in floats.
struct RowWork {
  int64_t count, floats;
};
RowWork row_work(const EmbeddingArgs& a) noexcept { return {a.out.shape[0], a.out.shape[1]}; }
RowWork row_work(const RmsNormArgs& a) noexcept { return {a.x.shape[0], 2 * a.x.shape[1]}; }
RowWork row_work(const MatmulArgs& a) noexcept { return {a.x.shape[0], a.x.shape[1]}; }
RowWork row_work(const QkNormRopeArgs& a) noexcept {
  return {a.x.shape[0], 2 * a.x.shape[1] * a.x.shape[2] + 64 * a.inv_freq.shape[0]};
}
RowWork row_work(const ReshapeAndCacheArgs& a) noexcept { return {a.k.shape[0], 2 * a.k.shape[1] * a.k.shape[2]}; }
RowWork row_work(const SigmoidGateArgs& a) noexcept { return {a.x.shape[0], 4 * a.x.shape[1] * a.x.shape[2]}; }
RowWork row_work(const GatedRmsNormArgs& a) noexcept { return {a.x.shape[0], 4 * a.x.shape[1] * a.x.shape[2]}; }
RowWork row_work(const GatherRowsArgs& a) noexcept { return {a.out.shape[0], a.out.shape[1]}; }
RowWork row_work(const CacheLatentsArgs& a) noexcept { return {a.x.shape[0], 2 * a.x.shape[1]}; }
RowWork row_work(const LayerNormArgs& a) noexcept { return {a.x.shape[0], 4 * a.x.shape[1]}; }
RowWork row_work(const GeluArgs& a) noexcept { return {a.x.shape[0], 16 * a.x.shape[1]}; }
RowWork row_work(const SiluRowsArgs& a) noexcept { return {a.x.shape[0], 16 * a.x.shape[1]}; }
RowWork row_work(const MixStreamsArgs& a) noexcept { return {a.x.shape[0], 16 * a.x.shape[1]}; }
RowWork row_work(const InjectStreamsArgs& a) noexcept { return {a.x.shape[0], 2 * a.streams.shape[1]}; }
RowWork row_work(const GateStreamsArgs& a) noexcept { return {a.keys.shape[0], 4 * a.keys.shape[1]}; }

struct RunRow {
  const Context& context;
  int64_t row;
  int thread;
  template <class Args>
  void operator()(const Args& a) const noexcept {
    if constexpr (is_row_op<Args>) run_row(context, a, row, thread);
  }
};

Status check_memory(int64_t rows, int64_t cols, const MatmulMemory& memory) noexcept {
  const int64_t groups = (cols + kPackedColumns - 1) / kPackedColumns;
  if (memory.fits(rows, groups)) return ok_status();
  return make_error(StatusCode::internal, concat(rows, " rows of ", cols, " are more than was reserved"));
}
Status check_memory(const Tensor& rows, const MatmulMemory& memory) noexcept {
  return check_memory(rows.shape[0], rows.shape[1], memory);
}

}  // namespace

template <class Args>
void CpuEncoder::defer(const Args& a) noexcept {
  const RowWork rows = row_work(a);
  run_conv();
  if (rows.count != num_rows_) run_rows();
  num_rows_ = rows.count;
  row_cost_ += rows.floats;
  rows_.emplace_back(std::in_place_type<Args>, a);
}

void CpuEncoder::run_rows() noexcept {
  if (rows_.empty()) return;
  const Profile::Timer timer = profile_.start_rows(num_rows_, row_cost_);
  const int64_t num_threads = context_.pool->num_threads(), sharing = std::min(num_threads, num_rows_);
  const bool is_shared = num_rows_ * row_cost_ / std::max<int64_t>(sharing, 1) * (sharing - 1) >= kMinSharedFloats;
  const int64_t per_task = is_shared ? std::clamp<int64_t>(num_rows_ / (num_threads * 4), 1, kMaxRowsPerTask)
                                     : std::max<int64_t>(num_rows_, 1);
  context_.for_each((num_rows_ + per_task - 1) / per_task, per_task * row_cost_, [&](int64_t index, int thread) {
    for (int64_t row = index * per_task; row < std::min(num_rows_, (index + 1) * per_task); ++row)
      for (const Ops::Value& op : rows_) std::visit(RunRow{context_, row, thread}, op);
  });
  rows_.clear();
  row_cost_ = 0;
}

void CpuEncoder::run_conv() noexcept {
  if (!conv_) return;
  const Profile::Timer timer = profile_.start(*conv_);
  run(context_, *conv_);
  conv_.reset();
}

void CpuEncoder::run_waiting() noexcept {
  run_rows();
  run_conv();
}

bool CpuEncoder::can(OpRef op) const noexcept {
  return op.visit([]<class Args>(const Args&) { return requires(CpuEncoder& cpu, const Args& a) { cpu.record(a); }; });
}

void CpuEncoder::encode(OpRef op) noexcept {
  if (!check(host::check_indices(op))) return;
  op.visit([this](const auto& a) {
    if constexpr (requires { this->record(a); }) record(a);
  });
}

template <class Args>
  requires(is_row_op<Args>)
void CpuEncoder::record(const Args& a) noexcept {
  defer(a);
}

template <class Args>
  requires(is_whole_op<Args>)
void CpuEncoder::record(const Args& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start(a);
  attempt([&] { return run(context_, a); });
}

void CpuEncoder::record(const EmbeddingArgs& a) noexcept {
  if (check(check_memory(a.out, context_.matmul))) defer(a);
}
void CpuEncoder::record(const GatherRowsArgs& a) noexcept {
  run_waiting();  // it reads rows that deferred ops have yet to write
  defer(a);
}
void CpuEncoder::record(const MatmulArgs& a) noexcept {
  if (!check(check_memory(a.x, context_.matmul))) return;
  defer(a);
  run_rows();
  const Profile::Timer timer = profile_.start(a);
  run(context_, a);
}
void CpuEncoder::record(const CausalConv1dArgs& a) noexcept {
  run_waiting();
  conv_ = a;
}
void CpuEncoder::record(const GdnArgs& a) noexcept {
  const bool is_inside = conv_ && can_convolve_inside(*conv_, a);
  if (!is_inside) run_waiting();
  const Profile::Timer timer = profile_.start(a);
  run(context_, a, is_inside ? &*conv_ : nullptr);
  conv_.reset();
}
void CpuEncoder::record(const RouteExpertsArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start(a);
  run(context_, a);
  if (has_fault() || a.experts_in == nullptr || !a.experts_in->is_streamed()) return;
  expert_order_.sort(a.ids, a.logits.shape[1]);
  prefetch_experts(a.experts_in, expert_order_, a.is_guess);
  prefetch_experts(a.experts_out, expert_order_, a.is_guess);
}
void CpuEncoder::record(const ExpertMatmulArgs& a) noexcept {
  run_waiting();
  if (!check(check_memory(a.out.shape[0], a.x.shape[1], context_.matmul))) return;
  expert_order_.sort(a.ids, a.num_experts);
  const Profile::Timer timer = profile_.start(a, static_cast<int64_t>(expert_order_.used.size()));
  // After an error the ids are those of numbers that were never computed.
  if (!a.weight->is_streamed() || !has_fault()) check(run(context_, a, expert_order_));
}

}  // namespace pagoda::device::cpu

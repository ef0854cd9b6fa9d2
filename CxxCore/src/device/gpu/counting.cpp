// Bytes that each op's kernels move: its cost, and the intermediate results that pass through memory. Times of kernels.
#include "device/gpu/counting.h"

#include <algorithm>
#include <chrono>

#include "device/op_cost.h"

namespace pagoda::device::gpu {
namespace {

double now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

OpTime& entry_of(std::vector<OpTime>& entries, const std::string& name) {
  const auto found = std::ranges::find(entries, name, &OpTime::name);
  return found != entries.end() ? *found : entries.emplace_back(OpTime{.name = name});
}

template <class Args>
OpCost moved(const Args& a) noexcept {
  return op_cost(a);
}
OpCost moved(const MatmulArgs& a) noexcept {
  OpCost cost = op_cost(a);
  if (a.weight->format() != WeightFormat::f32) cost.bytes += tensor_bytes(a.x);  // 16-bit copy, written and read
  return cost;
}
// The states of a prompt are read and written for each token, not once.
OpCost moved(const KdaArgs& a) noexcept {
  OpCost cost = op_cost(a);
  const double rows = static_cast<double>(a.q.shape[0]) / static_cast<double>(a.sequences.context_lens.shape[0]);
  if (rows > 1) cost.bytes += slots_bytes(a.state, a.sequences) * (rows - 1) * (1 + std::min(1.0, rows / kGdnBlock));
  return cost;
}

}  // namespace

Result<const Pipeline*> CountingBackend::pipeline(std::string_view kernel, std::span<const Constant> constants) {
  auto made = inner_->pipeline(kernel, constants);
  if (made.is_ok()) names_.push_back({*made, std::string(kernel)});
  return made;
}

// Nothing is pending when a launch is timed: earlier ones have been waited for.
void CountingBackend::time_launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                                  std::span<const Binding> bindings) {
  if (!error_.is_ok()) return;
  inner_->take_step_times();
  const double start = now();
  inner_->launch(pipeline, groups, threads, bindings);
  error_ = inner_->submit().wait();
  const double waited = now() - start;
  const StepTimes own = inner_->take_step_times();
  const auto named = std::ranges::find(names_, &pipeline, &Named::pipeline);
  OpTime& entry = entry_of(kernels_, named != names_.end() ? named->kernel : "unknown");
  ++entry.calls;
  entry.seconds += own.steps > 0 ? own.seconds : waited;
}

Pending& CountingBackend::submit() noexcept {
  submitted_ = &inner_->submit();
  return times_kernels_ ? *this : *submitted_;
}

Status CountingBackend::wait() noexcept {
  Status ran = submitted_->wait();
  return error_.is_ok() ? ran : std::exchange(error_, ok_status());
}

void CountingBackend::launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                             std::span<const Binding> bindings) noexcept {
  // Reading a clock twice for each of 200 launches took 0.2 ms of a step on a virtual machine.
  if (!is_counting_ && !times_kernels_) return inner_->launch(pipeline, groups, threads, bindings);
  const double start = now();
  if (times_kernels_) time_launch(pipeline, groups, threads, bindings);
  else inner_->launch(pipeline, groups, threads, bindings);
  launch_seconds_ += now() - start;
  ++num_launches_;
}

template <class Encode>
void CountingEncoder::count(const char* name, const OpCost& cost, Encode&& encode) {
  const double start = now(), inside = backend_.launch_seconds();
  const int64_t launches = backend_.num_launches();
  encode();
  OpTime& entry = entry_of(entries_, name);
  entry.calls += backend_.num_launches() - launches;
  entry.seconds += now() - start - (backend_.launch_seconds() - inside);
  entry.bytes += cost.bytes;
  entry.operations += cost.operations;
}

Pending& CountingEncoder::submit() noexcept {
  if (inner_.is_waiting()) count("waiting", {}, [&] { inner_.flush(); });
  return inner_.submit();
}

void CountingEncoder::encode(OpRef op) noexcept {
  const OpCost cost = op.visit([](const auto& args) { return moved(args); });
  count(op.name(), cost, [&] { inner_.encode(op); });
}

}  // namespace pagoda::device::gpu

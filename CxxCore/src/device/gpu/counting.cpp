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

void CountingEncoder::embedding(const EmbeddingArgs& a) noexcept {
  count("embedding", op_cost(a), [&] { inner_.embedding(a); });
}
void CountingEncoder::rms_norm(const RmsNormArgs& a) noexcept {
  count("rms_norm", op_cost(a), [&] { inner_.rms_norm(a); });
}
void CountingEncoder::matmul(const MatmulArgs& a) noexcept {
  OpCost cost = op_cost(a);
  if (a.weight->format() != WeightFormat::f32) cost.bytes += tensor_bytes(a.x);  // 16-bit copy, written and read
  count("matmul", cost, [&] { inner_.matmul(a); });
}
void CountingEncoder::qk_norm_rope(const QkNormRopeArgs& a) noexcept {
  count("qk_norm_rope", op_cost(a), [&] { inner_.qk_norm_rope(a); });
}
void CountingEncoder::reshape_and_cache(const ReshapeAndCacheArgs& a) noexcept {
  count("reshape_and_cache", op_cost(a), [&] { inner_.reshape_and_cache(a); });
}
void CountingEncoder::paged_attention(const PagedAttentionArgs& a) noexcept {
  count("paged_attention", op_cost(a), [&] { inner_.paged_attention(a); });
}
void CountingEncoder::gelu_mul(const GeluMulArgs& a) noexcept {
  count("gelu_mul", op_cost(a), [&] { inner_.gelu_mul(a); });
}
void CountingEncoder::layer_norm(const LayerNormArgs& a) noexcept {
  count("layer_norm", op_cost(a), [&] { inner_.layer_norm(a); });
}
void CountingEncoder::gelu(const GeluArgs& a) noexcept {
  count("gelu", op_cost(a), [&] { inner_.gelu(a); });
}
void CountingEncoder::scale_rows(const ScaleRowsArgs& a) noexcept {
  count("scale_rows", op_cost(a), [&] { inner_.scale_rows(a); });
}
void CountingEncoder::cache_latents(const CacheLatentsArgs& a) noexcept {
  count("cache_latents", op_cost(a), [&] { inner_.cache_latents(a); });
}
void CountingEncoder::latent_attention(const LatentAttentionArgs& a) noexcept {
  count("latent_attention", op_cost(a), [&] { inner_.latent_attention(a); });
}
void CountingEncoder::sigmoid_gate(const SigmoidGateArgs& a) noexcept {
  count("sigmoid_gate", op_cost(a), [&] { inner_.sigmoid_gate(a); });
}
void CountingEncoder::causal_conv1d(const CausalConv1dArgs& a) noexcept {
  count("causal_conv1d", op_cost(a), [&] { inner_.causal_conv1d(a); });
}
void CountingEncoder::gdn(const GdnArgs& a) noexcept {
  count("gdn", op_cost(a), [&] { inner_.gdn(a); });
}
// The states of a prompt are read and written for each token, not once.
void CountingEncoder::kda(const KdaArgs& a) noexcept {
  OpCost cost = op_cost(a);
  const double rows = static_cast<double>(a.q.shape[0]) / static_cast<double>(a.sequences.context_lens.shape[0]);
  if (rows > 1) cost.bytes += slots_bytes(a.state, a.sequences) * (rows - 1) * (1 + std::min(1.0, rows / kGdnBlock));
  count("kda", cost, [&] { inner_.kda(a); });
}
void CountingEncoder::gated_rms_norm(const GatedRmsNormArgs& a) noexcept {
  count("gated_rms_norm", op_cost(a), [&] { inner_.gated_rms_norm(a); });
}
void CountingEncoder::gather_rows(const GatherRowsArgs& a) noexcept {
  count("gather_rows", op_cost(a), [&] { inner_.gather_rows(a); });
}
void CountingEncoder::zero_slots(const ZeroSlotsArgs& a) noexcept {
  count("zero_slots", op_cost(a), [&] { inner_.zero_slots(a); });
}
void CountingEncoder::copy_slot(const CopySlotArgs& a) noexcept {
  count("copy_slot", op_cost(a), [&] { inner_.copy_slot(a); });
}
void CountingEncoder::argmax(const ArgmaxArgs& a) noexcept {
  count("argmax", op_cost(a), [&] { inner_.argmax(a); });
}
void CountingEncoder::sample(const SampleArgs& a) noexcept {
  count("sample", op_cost(a), [&] { inner_.sample(a); });
}
void CountingEncoder::route_experts(const RouteExpertsArgs& a) noexcept {
  count("route_experts", op_cost(a), [&] { inner_.route_experts(a); });
}
// At most one expert per row; fewer if rows share an expert, which the host does not know.
void CountingEncoder::expert_matmul(const ExpertMatmulArgs& a) noexcept {
  count("expert_matmul", op_cost(a, std::min(a.out.shape[0], a.num_experts)), [&] { inner_.expert_matmul(a); });
}
void CountingEncoder::add_adapters(const AdapterArgs& a) noexcept {
  count("add_adapters", op_cost(a), [&] { inner_.add_adapters(a); });
}
void CountingEncoder::silu_mul(const SiluMulArgs& a) noexcept {
  count("silu_mul", op_cost(a), [&] { inner_.silu_mul(a); });
}
void CountingEncoder::combine_experts(const CombineExpertsArgs& a) noexcept {
  count("combine_experts", op_cost(a), [&] { inner_.combine_experts(a); });
}

}  // namespace pagoda::device::gpu

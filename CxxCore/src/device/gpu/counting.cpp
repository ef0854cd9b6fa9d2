// Bytes that each op's kernels move: every tensor once, and the intermediate results that go through memory.
#include "device/gpu/counting.h"

#include <algorithm>
#include <chrono>

#include "device/gpu/gpu_weight.h"
#include "device/host/access.h"

namespace pagoda::device::gpu {
namespace {

double now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double bytes_of(const Tensor& t) noexcept {
  return t.is_present() ? static_cast<double>(t.num_elements()) * static_cast<double>(dtype_bytes(t.dtype)) : 0;
}

// Keys and values that a step reads, each once for the heads that share them; 0 where the host cannot see the lengths.
double cache_bytes(const PagedAttentionArgs& a) noexcept {
  if (a.sequences.context_lens.buffer->host_pointer() == nullptr) return 0;
  double positions = 0;
  for (int64_t b = 0; b < a.sequences.context_lens.shape[0]; ++b) {
    const int64_t context = host_data<int32_t>(a.sequences.context_lens)[b];
    positions += static_cast<double>(a.window > 0 ? std::min<int64_t>(context, a.window) : context);
  }
  return 2 * positions * static_cast<double>(a.k_cache.shape[2] * a.k_cache.shape[3]) *
         static_cast<double>(dtype_bytes(a.k_cache.dtype));
}

// One slot of a pool, for each sequence.
double slots_bytes(const Tensor& pool, const SequenceArgs& s) noexcept {
  return static_cast<double>(host::slot_bytes(pool)) * static_cast<double>(s.context_lens.shape[0]);
}

}  // namespace

void CountingBackend::launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                             std::span<const Binding> bindings) noexcept {
  const double start = now();
  inner_->launch(pipeline, groups, threads, bindings);
  launch_seconds_ += now() - start;
  ++num_launches_;
}

template <class Encode>
void CountingEncoder::count(const char* name, double bytes, double operations, Encode&& encode) {
  const double start = now(), inside = backend_.launch_seconds();
  const int64_t launches = backend_.num_launches();
  encode();
  auto entry = std::ranges::find(entries_, name, &OpTime::name);
  if (entry == entries_.end()) entry = entries_.insert(entries_.end(), OpTime{.name = name});
  entry->calls += backend_.num_launches() - launches;
  entry->seconds += now() - start - (backend_.launch_seconds() - inside);
  entry->bytes += bytes;
  entry->operations += operations;
}

Pending& CountingEncoder::submit() noexcept {
  if (inner_.is_waiting()) count("waiting", 0, 0, [&] { inner_.flush(); });
  return inner_.submit();
}

void CountingEncoder::embedding(const EmbeddingArgs& a) noexcept {
  const double row = static_cast<double>(static_cast<const GpuWeight&>(*a.table).layout().row_bytes);
  count("embedding", bytes_of(a.out) + row * static_cast<double>(a.out.shape[0]), 0, [&] { inner_.embedding(a); });
}
void CountingEncoder::rms_norm(const RmsNormArgs& a) noexcept {
  const double made = a.only_next ? 0 : bytes_of(a.out);  // or by the matmul that reads them
  count("rms_norm", bytes_of(a.x) * (a.residual.is_present() ? 3 : 1) + made, 0, [&] { inner_.rms_norm(a); });
}
void CountingEncoder::matmul(const MatmulArgs& a) noexcept {
  const double operations = 2.0 * static_cast<double>(a.x.shape[0] * a.weight->rows() * a.weight->cols());
  const double rounded = a.weight->format() == WeightFormat::f32 ? 0 : bytes_of(a.x);  // 16 bits, written and read
  count("matmul", static_cast<double>(a.weight->size_bytes()) + bytes_of(a.x) + rounded + bytes_of(a.out), operations,
        [&] { inner_.matmul(a); });
}
void CountingEncoder::qk_norm_rope(const QkNormRopeArgs& a) noexcept {
  count("qk_norm_rope", bytes_of(a.x) + bytes_of(a.out), 0, [&] { inner_.qk_norm_rope(a); });
}
void CountingEncoder::reshape_and_cache(const ReshapeAndCacheArgs& a) noexcept {
  const double written = static_cast<double>(a.k.num_elements()) * static_cast<double>(dtype_bytes(a.k_cache.dtype));
  count("reshape_and_cache", 2 * (bytes_of(a.k) + written), 0, [&] { inner_.reshape_and_cache(a); });
}
void CountingEncoder::paged_attention(const PagedAttentionArgs& a) noexcept {
  count("paged_attention", bytes_of(a.q) + bytes_of(a.out) + cache_bytes(a), 0, [&] { inner_.paged_attention(a); });
}
void CountingEncoder::cache_latents(const CacheLatentsArgs& a) noexcept {
  const double written = static_cast<double>(a.x.num_elements()) * static_cast<double>(dtype_bytes(a.cache.dtype));
  count("cache_latents", bytes_of(a.x) + written, 0, [&] { inner_.cache_latents(a); });
}
void CountingEncoder::latent_attention(const LatentAttentionArgs& a) noexcept {
  const PagedAttentionArgs as_keys{
      .q = a.q, .k_cache = with_one_head(a.cache, a.q.shape[2]), .v_cache = {}, .sequences = a.sequences, .out = a.out};
  count("latent_attention", bytes_of(a.q) + bytes_of(a.out) + cache_bytes(as_keys) / 2, 0,
        [&] { inner_.latent_attention(a); });
}
void CountingEncoder::sigmoid_gate(const SigmoidGateArgs& a) noexcept {
  count("sigmoid_gate", 3 * bytes_of(a.x), 0, [&] { inner_.sigmoid_gate(a); });
}
void CountingEncoder::causal_conv1d(const CausalConv1dArgs& a) noexcept {
  count("causal_conv1d", bytes_of(a.x) + bytes_of(a.out) + bytes_of(a.weight) + 2 * slots_bytes(a.tail, a.sequences), 0,
        [&] { inner_.causal_conv1d(a); });
}
void CountingEncoder::gdn(const GdnArgs& a) noexcept {
  const double tokens = static_cast<double>(a.q.shape[0]),
               sequences = static_cast<double>(a.sequences.context_lens.shape[0]);
  const double writes = std::min(1.0, tokens / sequences / kGdnBlock);  // of a state, on average
  const double rows = slots_bytes(a.k_rows, a.sequences) + slots_bytes(a.u_rows, a.sequences);
  count("gdn",
        bytes_of(a.q) + bytes_of(a.k) + bytes_of(a.v) + bytes_of(a.out) + rows +
            slots_bytes(a.state, a.sequences) * (1 + writes),
        0, [&] { inner_.gdn(a); });
}
void CountingEncoder::kda(const KdaArgs& a) noexcept {
  const double tokens = static_cast<double>(a.q.shape[0]),
               sequences = static_cast<double>(a.sequences.context_lens.shape[0]);
  const double writes = std::min(1.0, tokens / sequences / kGdnBlock);  // of a state, on average
  const double rows =
      slots_bytes(a.k_rows, a.sequences) + slots_bytes(a.u_rows, a.sequences) + slots_bytes(a.g_rows, a.sequences);
  const double states = slots_bytes(a.state, a.sequences) * (tokens / sequences > 1 ? tokens / sequences : 1);
  count("kda",
        bytes_of(a.q) + bytes_of(a.k) + bytes_of(a.v) + bytes_of(a.a) + bytes_of(a.out) + rows + states * (1 + writes),
        0, [&] { inner_.kda(a); });
}
void CountingEncoder::gated_rms_norm(const GatedRmsNormArgs& a) noexcept {
  count("gated_rms_norm", 2 * bytes_of(a.x) + bytes_of(a.out), 0, [&] { inner_.gated_rms_norm(a); });
}
void CountingEncoder::gather_rows(const GatherRowsArgs& a) noexcept {
  count("gather_rows", 2 * bytes_of(a.out), 0, [&] { inner_.gather_rows(a); });
}
void CountingEncoder::zero_slots(const ZeroSlotsArgs& a) noexcept {
  const double slots = static_cast<double>(a.slots.shape[0]);
  count("zero_slots", static_cast<double>(host::slot_bytes(a.pool)) * slots, 0, [&] { inner_.zero_slots(a); });
}
void CountingEncoder::copy_slot(const CopySlotArgs& a) noexcept {
  count("copy_slot", 2 * static_cast<double>(host::slot_bytes(a.pool)), 0, [&] { inner_.copy_slot(a); });
}
void CountingEncoder::argmax(const ArgmaxArgs& a) noexcept {
  count("argmax", bytes_of(a.logits) + bytes_of(a.tokens), 0, [&] { inner_.argmax(a); });
}
void CountingEncoder::sample(const SampleArgs& a) noexcept {
  count("sample", bytes_of(a.logits) + bytes_of(a.draws) + bytes_of(a.tokens), 0, [&] { inner_.sample(a); });
}
void CountingEncoder::route_experts(const RouteExpertsArgs& a) noexcept {
  count("route_experts", bytes_of(a.logits) + bytes_of(a.ids) + bytes_of(a.weights), 0,
        [&] { inner_.route_experts(a); });
}
// No more experts than rows; fewer where rows share one, which the host does not know.
void CountingEncoder::expert_matmul(const ExpertMatmulArgs& a) noexcept {
  const double rows = static_cast<double>(a.out.shape[0]), experts = static_cast<double>(a.num_experts);
  const double read = static_cast<double>(a.weight->size_bytes()) * std::min(1.0, rows / experts);
  const double operations = 2.0 * rows * static_cast<double>(a.weight->rows() / a.num_experts * a.weight->cols());
  count("expert_matmul", read + bytes_of(a.x) + bytes_of(a.out), operations, [&] { inner_.expert_matmul(a); });
}
void CountingEncoder::combine_experts(const CombineExpertsArgs& a) noexcept {
  count("combine_experts", bytes_of(a.x) + bytes_of(a.shared) + bytes_of(a.out), 0, [&] { inner_.combine_experts(a); });
}

}  // namespace pagoda::device::gpu

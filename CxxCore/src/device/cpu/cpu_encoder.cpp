// Execution order of ops on the CPU device.
#include "device/cpu/cpu_encoder.h"

#include <algorithm>

#include "base/concat.h"

namespace pagoda::device::cpu {
namespace {

constexpr int64_t kMaxRowsPerTask = 16;
// Minimum floats of row ops to share with other threads, about 10 us of work. Sharing costs a quarter of that while
// the other threads spin, but twenty times as much if other programs keep the cores busy, and a step does so a
// hundred times: the few rows of one sequence are not worth it.
constexpr int64_t kMinSharedFloats = 16000;

struct RunRow {
  const Context& context;
  int64_t row;
  int thread;
  void operator()(const EmbeddingArgs& a) const noexcept { embedding(context, a, row, thread); }
  void operator()(const RmsNormArgs& a) const noexcept { rms_norm(context, a, row); }
  void operator()(const MatmulArgs& a) const noexcept { pack_row(context, a, row, thread); }
  void operator()(const QkNormRopeArgs& a) const noexcept { qk_norm_rope(context, a, row); }
  void operator()(const ReshapeAndCacheArgs& a) const noexcept { reshape_and_cache(context, a, row); }
  void operator()(const SigmoidGateArgs& a) const noexcept { sigmoid_gate(context, a, row); }
  void operator()(const GatedRmsNormArgs& a) const noexcept { gated_rms_norm(context, a, row); }
  void operator()(const GatherRowsArgs& a) const noexcept { gather_rows(context, a, row); }
  void operator()(const CacheLatentsArgs& a) const noexcept { cache_latents(context, a, row); }
  void operator()(const LayerNormArgs& a) const noexcept { layer_norm(a, row); }
  void operator()(const GeluArgs& a) const noexcept { gelu(context, a, row); }
  void operator()(const SiluRowsArgs& a) const noexcept { silu_rows(context, a, row); }
  void operator()(const MixStreamsArgs& a) const noexcept { mix_streams(context, a, row); }
  void operator()(const InjectStreamsArgs& a) const noexcept { inject_streams(context, a, row); }
  void operator()(const GateStreamsArgs& a) const noexcept { gate_streams(context, a, row); }
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

void CpuEncoder::add(const RowOp& op, int64_t num_rows, int64_t row_size) {
  run_conv();
  if (num_rows != num_rows_) run_rows();
  num_rows_ = num_rows;
  row_cost_ += row_size;
  rows_.push_back(op);
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
      for (const RowOp& op : rows_) std::visit(RunRow{context_, row, thread}, op);
  });
  rows_.clear();
  row_cost_ = 0;
}

void CpuEncoder::run_conv() noexcept {
  if (!conv_) return;
  const Profile::Timer timer = profile_.start(*conv_);
  cpu::causal_conv1d(context_, *conv_);
  conv_.reset();
}

void CpuEncoder::run_waiting() noexcept {
  run_rows();
  run_conv();
}

void CpuEncoder::embedding(const EmbeddingArgs& a) noexcept {
  if (accept(a) && check(check_memory(a.out, context_.matmul))) add(a, a.out.shape[0], a.out.shape[1]);
}
void CpuEncoder::rms_norm(const RmsNormArgs& a) noexcept { add(a, a.x.shape[0], 2 * a.x.shape[1]); }
void CpuEncoder::qk_norm_rope(const QkNormRopeArgs& a) noexcept {
  add(a, a.x.shape[0], 2 * a.x.shape[1] * a.x.shape[2] + 64 * a.inv_freq.shape[0]);
}
void CpuEncoder::reshape_and_cache(const ReshapeAndCacheArgs& a) noexcept {
  if (accept(a)) add(a, a.k.shape[0], 2 * a.k.shape[1] * a.k.shape[2]);
}
void CpuEncoder::sigmoid_gate(const SigmoidGateArgs& a) noexcept {
  add(a, a.x.shape[0], 4 * a.x.shape[1] * a.x.shape[2]);
}
void CpuEncoder::gated_rms_norm(const GatedRmsNormArgs& a) noexcept {
  add(a, a.x.shape[0], 4 * a.x.shape[1] * a.x.shape[2]);
}
void CpuEncoder::layer_norm(const LayerNormArgs& a) noexcept { add(a, a.x.shape[0], 4 * a.x.shape[1]); }
void CpuEncoder::gelu(const GeluArgs& a) noexcept { add(a, a.x.shape[0], 16 * a.x.shape[1]); }
void CpuEncoder::silu_rows(const SiluRowsArgs& a) noexcept { add(a, a.x.shape[0], 16 * a.x.shape[1]); }
void CpuEncoder::mix_streams(const MixStreamsArgs& a) noexcept { add(a, a.x.shape[0], 16 * a.x.shape[1]); }
void CpuEncoder::inject_streams(const InjectStreamsArgs& a) noexcept { add(a, a.x.shape[0], 2 * a.streams.shape[1]); }
void CpuEncoder::gate_streams(const GateStreamsArgs& a) noexcept { add(a, a.keys.shape[0], 4 * a.keys.shape[1]); }
void CpuEncoder::gather_rows(const GatherRowsArgs& a) noexcept {
  run_waiting();  // it reads rows that deferred ops have yet to write
  if (accept(a)) add(a, a.out.shape[0], a.out.shape[1]);
}

void CpuEncoder::matmul(const MatmulArgs& a) noexcept {
  if (!check(check_memory(a.x, context_.matmul))) return;
  add(a, a.x.shape[0], a.x.shape[1]);
  run_rows();
  const Profile::Timer timer = profile_.start(a);
  cpu::matmul(context_, a);
}
void CpuEncoder::paged_attention(const PagedAttentionArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start(a);
  if (accept(a)) cpu::paged_attention(context_, a);
}
void CpuEncoder::cache_latents(const CacheLatentsArgs& a) noexcept {
  if (accept(a)) add(a, a.x.shape[0], 2 * a.x.shape[1]);
}
void CpuEncoder::latent_attention(const LatentAttentionArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start(a);
  if (accept(a)) cpu::latent_attention(context_, a);
}
void CpuEncoder::causal_conv1d(const CausalConv1dArgs& a) noexcept {
  run_waiting();
  if (accept(a)) conv_ = a;
}
void CpuEncoder::gdn(const GdnArgs& a) noexcept {
  const bool is_inside = conv_ && can_convolve_inside(*conv_, a);
  if (!is_inside) run_waiting();
  if (!accept(a)) return;
  const Profile::Timer timer = profile_.start(a);
  cpu::gdn(context_, a, is_inside ? &*conv_ : nullptr);
  conv_.reset();
}
void CpuEncoder::kda(const KdaArgs& a) noexcept {
  run_waiting();
  if (!accept(a)) return;
  const Profile::Timer timer = profile_.start(a);
  cpu::kda(context_, a);
}
void CpuEncoder::ngram_embedding(const NgramEmbeddingArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start_rows(a.out.shape[0], 2 * a.out.shape[1]);
  if (accept(a)) check(cpu::ngram_embedding(context_, a));
}
void CpuEncoder::dilated_conv(const DilatedConvArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start(a);
  if (accept(a)) cpu::dilated_conv(context_, a);
}
void CpuEncoder::cache_index_keys(const CacheIndexKeysArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start_rows(a.x.shape[0], 3 * a.x.shape[1]);
  if (accept(a)) cpu::cache_index_keys(context_, a);
}
void CpuEncoder::select_blocks(const SelectBlocksArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start(a);
  if (accept(a)) check(cpu::select_blocks(context_, a));
}
void CpuEncoder::block_attention(const BlockAttentionArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start(a);
  if (accept(a)) cpu::block_attention(context_, a);
}
void CpuEncoder::zero_slots(const ZeroSlotsArgs& a) noexcept {
  run_waiting();
  if (accept(a)) cpu::zero_slots(context_, a);
}
void CpuEncoder::copy_slot(const CopySlotArgs& a) noexcept {
  run_waiting();
  cpu::copy_slot(context_, a);
}

void CpuEncoder::route_experts(const RouteExpertsArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start_rows(a.ids.shape[0], a.logits.shape[1] * a.ids.shape[1]);
  cpu::route_experts(context_, a);
  if (has_fault() || a.experts_in == nullptr || !a.experts_in->is_streamed()) return;
  expert_order_.sort(a.ids, a.logits.shape[1]);
  prefetch_experts(a.experts_in, expert_order_);
  prefetch_experts(a.experts_out, expert_order_);
}
void CpuEncoder::expert_matmul(const ExpertMatmulArgs& a) noexcept {
  run_waiting();
  if (!accept(a) || !check(check_memory(a.out.shape[0], a.x.shape[1], context_.matmul))) return;
  expert_order_.sort(a.ids, a.num_experts);
  const Profile::Timer timer = profile_.start(a, static_cast<int64_t>(expert_order_.used.size()));
  // After an error the ids are those of numbers that were never computed.
  if (!a.weight->is_streamed() || !has_fault()) check(cpu::expert_matmul(context_, a, expert_order_));
}
void CpuEncoder::combine_experts(const CombineExpertsArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start_rows(a.out.shape[0], (a.weights.shape[1] + 1) * a.out.shape[1]);
  cpu::combine_experts(context_, a);
}

void CpuEncoder::gelu_mul(const GeluMulArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start_rows(a.out.shape[0], 16 * a.out.shape[1]);
  cpu::gelu_mul(context_, a);
}
void CpuEncoder::add_adapters(const AdapterArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start_rows(a.out.shape[0], a.max_rank * a.x.shape[1]);
  if (accept(a)) cpu::add_adapters(context_, a);
}
void CpuEncoder::silu_mul(const SiluMulArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start_rows(a.out.shape[0], 16 * a.out.shape[1]);
  cpu::silu_mul(context_, a);
}
void CpuEncoder::scale_rows(const ScaleRowsArgs& a) noexcept {
  run_waiting();
  const Profile::Timer timer = profile_.start_rows(a.x.shape[0], a.x.shape[1]);
  cpu::scale_rows(context_, a);
}

}  // namespace pagoda::device::cpu

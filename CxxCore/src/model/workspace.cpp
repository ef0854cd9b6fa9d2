// Plans the workspace from the configuration, and fills its inputs from a batch.
#include "model/workspace.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <vector>

#include "base/assign_or_return.h"
#include "io/weight_table.h"
#include "model/arena.h"
#include "model/layers/rope.h"

namespace pagoda::model {
namespace {

struct Widths {           // of the scratch tensors: the largest of any layer
  int64_t projected = 0;  // output of mixer_in
  int64_t inner = 0;      // after the convolution; output of mlp_in
  int64_t mixed = 0;      // output of attention or GDN, all heads; queries of latent attention
  int64_t mixer_out = 0;  // input of mixer_out
};

Widths scratch_widths(const io::ModelConfig& c, bool has_adapters) noexcept {
  const int64_t q = int64_t{c.num_heads} * c.head_dim, kv = int64_t{c.num_kv_heads} * c.head_dim;
  const int64_t k = int64_t{c.linear_num_k_heads} * c.linear_k_head_dim;
  const int64_t v = int64_t{c.linear_num_v_heads} * c.linear_v_head_dim;
  const int64_t halves = c.gelu || has_adapters ? 2 : 1;  // both, if a later op joins them
  Widths widths{0, halves * std::max<int64_t>(c.intermediate_size, c.shared_expert_size), 0, 0};
  for (io::LayerKind kind : c.layers) {
    if (kind == io::LayerKind::linear_attention && c.channel_decay) {
      widths.projected =
          std::max(widths.projected, 2 * k + v + c.linear_num_v_heads + 2 * int64_t{c.linear_v_head_dim});
      widths.inner = std::max(widths.inner, 3 * k + v);
      widths.mixed = std::max(widths.mixed, v);
      widths.mixer_out = std::max(widths.mixer_out, v);
    } else if (kind == io::LayerKind::linear_attention) {
      widths.projected = std::max(widths.projected, 2 * k + 2 * v + 2 * int64_t{c.linear_num_v_heads});
      widths.inner = std::max(widths.inner, 2 * k + v);
      widths.mixed = std::max(widths.mixed, v);
      widths.mixer_out = std::max(widths.mixer_out, v);
    } else if (c.has_latents()) {
      const int64_t heads = c.num_heads;
      widths.projected = std::max(widths.projected, int64_t{c.q_lora_rank} + c.latent_dim());
      widths.inner = std::max({widths.inner, heads * (c.nope_head_dim + c.head_dim), heads * c.kv_lora_rank});
      widths.mixed = std::max(widths.mixed, heads * std::max(c.latent_dim(), c.v_head_dim));
      widths.mixer_out = std::max(widths.mixer_out, heads * c.v_head_dim);
    } else {
      widths.projected = std::max(widths.projected, (c.attention_gate ? 2 * q : q) + 2 * kv +
                                                        int64_t{c.indexer.num_heads + 1} * c.indexer.head_dim);
      widths.mixed = std::max(widths.mixed, q);
      widths.mixer_out = std::max(widths.mixer_out, q);
    }
  }
  return widths;
}

device::Tensor take_rows(Arena& arena, int64_t rows, int64_t width) noexcept {
  return device::slice(arena.take(DType::f32, {rows, row_stride(width)}), 1, 0, width);
}

// A save splits at most one sequence in two and adds one segment, whose cu_seqlens start with another 0.
int64_t max_segment_values(const EngineLimits& sizes) noexcept {
  const int64_t saves = sizes.max_state_saves;
  return saves > 0 ? 3 * (sizes.max_num_seqs + saves) + saves + 1 : 0;
}

// Hidden states that outlive a step: the last ones of every sequence, and one for every save.
int64_t max_kept(const io::ModelConfig& config, const EngineLimits& sizes) noexcept {
  const int64_t seqs = config.runs_mtp_head ? sizes.max_num_seqs : 0;
  return seqs * (device::kMaxDrafts + 1) + (seqs > 0 ? sizes.max_state_saves : 0);
}

// The bytes of all lists of the largest step (Workspace::begin).
int64_t max_input_bytes(const io::ModelConfig& config, const EngineLimits& sizes) noexcept {
  const int64_t tokens = sizes.max_num_tokens, seqs = sizes.max_num_seqs, rows = sizes.max_logits_rows;
  const int64_t ids = StepInputs::size_bytes(tokens, sizeof(int32_t));
  const int64_t adapters = sizes.adapter_bytes > 0 ? ids : 0;
  const int64_t of_seqs = StepInputs::size_bytes(seqs + 1, sizeof(int32_t));
  int64_t bytes = (config.vision.is_present() ? 5 : 2) * ids + adapters +
                  StepInputs::size_bytes(tokens, sizeof(int64_t)) + 4 * of_seqs;
  bytes += StepInputs::size_bytes(rows, sizeof(int32_t)) + StepInputs::size_bytes(rows, sizeof(Draw));
  bytes += StepInputs::size_bytes(max_segment_values(sizes), sizeof(int32_t));
  if (!config.runs_mtp_head) return bytes;
  const int64_t kept = max_kept(config, sizes);
  return bytes + of_seqs + ids + StepInputs::size_bytes(kept, sizeof(int32_t)) +
         StepInputs::size_bytes(kept, sizeof(int64_t));
}

Step plan(const io::ModelConfig& config, const EngineLimits& sizes, Arena& arena) noexcept {
  const int64_t tokens = sizes.max_num_tokens, seqs = sizes.max_num_seqs, rows = sizes.max_logits_rows;
  const int64_t hidden = config.hidden_size;
  const bool has_adapters = sizes.adapter_bytes > 0;
  const Widths widths = scratch_widths(config, has_adapters);
  Step step;
  step.inputs = arena.take(DType::i64, {max_input_bytes(config, sizes) / static_cast<int64_t>(sizeof(int64_t))});
  step.sequences.block_tables = arena.take(DType::i32, {seqs, sizes.max_blocks_per_seq});
  const int64_t all_streams = config.num_streams * hidden;
  const int64_t head_tokens = config.runs_mtp_head ? tokens : 0, head_seqs = config.runs_mtp_head ? seqs : 0;
  step.head.hidden = take_rows(arena, head_seqs + head_tokens, all_streams);
  // Where a head reads all residual streams they are among its rows.
  step.hidden = config.runs_mtp_head && config.has_streams() ? device::slice(step.head.hidden, 0, seqs, tokens)
                                                             : take_rows(arena, tokens, all_streams);
  step.normed = take_rows(arena, tokens, hidden);
  step.delta = take_rows(arena, tokens, hidden);
  step.projected = take_rows(arena, tokens, widths.projected);
  step.inner = take_rows(arena, tokens, widths.inner);
  step.mixed = take_rows(arena, tokens, widths.mixed);
  const int64_t many = config.has_streams() ? tokens : 0, with_ngrams = config.ngrams.is_present() ? tokens : 0;
  step.streams_normed = take_rows(arena, many, all_streams);
  step.streams_gates = take_rows(arena, many, all_streams);
  step.streams_weights = take_rows(arena, many, config.stream_rank + config.num_streams);
  step.ngram_rows = take_rows(arena, with_ngrams, config.ngrams.embed_dim);
  step.ngram_keys = take_rows(arena, with_ngrams, (config.num_streams + 1) * hidden);
  step.chosen_blocks = arena.take(DType::i32, {config.indexer.is_present() ? tokens : 0, config.indexer.num_blocks()});
  const int64_t routed = config.num_experts > 0 ? tokens : 0, per_token = config.num_experts_per_token;
  const bool has_gate = config.shared_expert_size > 0 && config.shared_expert_gate;
  step.router = take_rows(arena, routed, config.num_experts + (has_gate ? 1 : 0));
  step.head_ids = arena.take(DType::i32, {config.has_latents() ? tokens : 0, config.num_heads});
  step.expert_ids = arena.take(DType::i32, {routed, per_token});
  step.expert_weights = arena.take(DType::f32, {routed, per_token});
  step.expert_inner = take_rows(arena, routed * per_token, (has_adapters ? 2 : 1) * padded_expert_size(config));
  step.expert_delta = take_rows(arena, routed * per_token, padded_expert_outputs(config));
  step.head.block_tables = arena.take(DType::i32, {head_seqs, sizes.max_blocks_per_seq});
  step.head.tail = take_rows(arena, max_kept(config, sizes), all_streams);
  step.head.pairs = take_rows(arena, head_tokens, config.has_streams() ? all_streams : 2 * hidden);
  step.head.all_output = take_rows(arena, head_seqs, all_streams);
  step.adapter_inner =
      arena.take(DType::f32, {AdapterPool::inner_size(has_adapters ? tokens : 0, routed > 0 ? per_token : 0)});
  step.image_embeddings = arena.take(DType::f32, {config.vision.is_present() ? tokens : 0, config.vision.row_size()});
  step.gathered = take_rows(arena, rows, hidden);
  step.logits = arena.take(DType::f32, {rows, config.vocab_size});
  step.edits = arena.take(DType::i32, {rows * kEditsPerRow, 4});
  step.masks = arena.take(DType::i32, {rows, 2 * mask_words(config.vocab_size)});
  return step;
}

// Scores of rows, then their tokens.
size_t score_bytes(const EngineLimits& sizes) noexcept {
  return static_cast<size_t>(sizes.max_logits_rows) * sizeof(RowScore);
}

size_t picked_bytes(const EngineLimits& sizes) noexcept {
  return score_bytes(sizes) + static_cast<size_t>(sizes.max_logits_rows) * sizeof(int32_t);
}

// Uploads only the changed entries: those of earlier steps are still valid.
Status fill_tables(device::Tensor& tables, const ForwardBatch& batch, device::Device& device) {
  tables = device::slice(tables, 0, 0, batch.num_seqs());
  const int64_t width = tables.shape[1], entry_bytes = sizeof(int32_t);
  if (!batch.has_table_changes)
    return device.upload(tables, batch.block_tables.data(),
                         static_cast<size_t>(batch.num_seqs() * width * entry_bytes));
  for (const TableChange& change : batch.table_changes) {
    const int64_t offset = change.row * width + change.first;
    const device::Tensor part =
        device::dense(tables.buffer, DType::i32, {change.count}, tables.offset_bytes + offset * entry_bytes);
    PAGODA_RETURN_IF_ERROR(
        device.upload(part, batch.block_tables.data() + offset, static_cast<size_t>(change.count * entry_bytes)));
  }
  return ok_status();
}

// The rest keeps what it has, which nothing reads.
template <class T>
Status upload_front(const device::Tensor& to, std::span<const T> from, device::Device& device) {
  return from.empty() ? ok_status() : device.upload(to, from.data(), from.size_bytes());
}

bool wants_all_rows(const ForwardBatch& batch) noexcept {
  int32_t row = 0;
  return static_cast<int64_t>(batch.logits_rows.size()) == batch.num_tokens() &&
         std::ranges::all_of(batch.logits_rows, [&](int32_t wanted) { return wanted == row++; });
}

}  // namespace

bool has_adapters(const Step& step, int layer_index, Role role) noexcept {
  return step.adapter_slots.is_present() && step.adapters->changes(layer_index, role);
}

Status add_adapters(device::Encoder& encoder, const Step& step, int layer_index, Role role, const device::Tensor& x,
                    const device::Tensor& out, const device::Tensor& experts) {
  if (!has_adapters(step, layer_index, role)) return ok_status();
  return step.adapters->add(encoder, layer_index, role, x, step.adapter_slots, experts, step.adapter_inner, out);
}

int64_t Workspace::size_bytes(const io::ModelConfig& config, const EngineLimits& sizes) noexcept {
  Arena arena;
  plan(config, sizes, arena);
  return arena.size_bytes() + static_cast<int64_t>(picked_bytes(sizes));
}

device::StepLimits Workspace::step_limits(const io::ModelConfig& config, const EngineLimits& sizes) noexcept {
  device::StepLimits limits;
  const int64_t rows = int64_t{sizes.max_num_tokens} * std::max(config.num_experts_per_token, 1);
  limits.tokens = std::max(rows, int64_t{sizes.max_logits_rows});
  limits.cols =
      std::max({(config.runs_mtp_head ? 2 : 1) * int64_t{config.hidden_size}, int64_t{config.intermediate_size},
                int64_t{config.shared_expert_size}, padded_expert_size(config), scratch_widths(config, false).mixer_out,
                int64_t{config.num_streams} * config.hidden_size, int64_t{config.stream_rank},
                int64_t{config.ngrams.embed_dim}});
  if (config.has_latents()) {
    limits.rows_by_head = int64_t{sizes.max_num_tokens} * config.num_heads;
    limits.head_cols = std::max(config.kv_lora_rank, config.nope_head_dim);
    limits.cols = std::max({limits.cols, limits.head_cols, int64_t{config.q_lora_rank}});
  }
  limits.sequences = sizes.max_num_seqs;
  limits.context = int64_t{sizes.max_blocks_per_seq} * sizes.block_size;
  limits.heads = config.num_heads;
  limits.head_dim = config.has_latents() ? config.kv_lora_rank : config.head_dim;
  limits.k_heads = config.linear_num_k_heads;
  limits.v_heads = config.linear_num_v_heads;
  limits.k_dim = config.linear_k_head_dim;
  limits.logits_rows = sizes.max_logits_rows;
  limits.vocab = config.vocab_size;
  limits.experts = config.num_experts;
  return limits;
}

Result<Workspace> Workspace::allocate(const io::ModelConfig& config, const EngineLimits& sizes,
                                      device::Device& device) {
  PAGODA_ASSIGN_OR_RETURN(auto buffer,
                          device.allocate(static_cast<size_t>(size_bytes(config, sizes)) - picked_bytes(sizes),
                                          "step inputs and activations"));
  Workspace workspace;
  workspace.buffer_ = std::move(buffer);
  Arena arena(workspace.buffer_.get());
  workspace.largest_ = plan(config, sizes, arena);
  PAGODA_ASSIGN_OR_RETURN(workspace.picked_, device.allocate_readback(picked_bytes(sizes), "sampled tokens"));
  workspace.largest_.scores =
      device::dense(workspace.picked_.get(), DType::i64, {sizes.max_logits_rows, sizeof(RowScore) / sizeof(int64_t)});
  workspace.largest_.picked = device::dense(workspace.picked_.get(), DType::i32, {sizes.max_logits_rows},
                                            static_cast<int64_t>(score_bytes(sizes)));
  workspace.inputs_ = StepInputs(workspace.largest_.inputs);
  if (config.has_latents()) {
    std::vector<int32_t> ids(static_cast<size_t>(workspace.largest_.head_ids.num_elements()));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i % static_cast<size_t>(config.num_heads));
    PAGODA_RETURN_IF_ERROR(device.upload(workspace.largest_.head_ids, ids.data(), ids.size() * sizeof(int32_t)));
  }
  workspace.rope_ = config.rope;
  workspace.num_rope_rows_ = num_rope_rows(config.rope, config.context_length);
  const bool has_runs = config.rope.depends_on_position() || config.vision.is_present();
  workspace.rope_runs_.reserve(has_runs ? static_cast<size_t>(sizes.max_num_tokens) : 1);
  if (config.vision.is_present()) {
    workspace.image_order_.resize(static_cast<size_t>(sizes.max_num_tokens));
    std::iota(workspace.image_order_.begin(), workspace.image_order_.end(), 0);
  }
  if (config.runs_mtp_head) {
    workspace.hidden_ring_ = device::kMaxDrafts + 1;
    workspace.before_.reserve(static_cast<size_t>(sizes.max_num_seqs));
    workspace.shift_.reserve(static_cast<size_t>(sizes.max_num_tokens));
    const auto kept = static_cast<size_t>(max_kept(config, sizes));
    workspace.kept_.reserve(kept);
    workspace.kept_slots_.reserve(kept);
  }
  workspace.segments_.reserve(static_cast<size_t>(sizes.max_state_saves) + 1);
  workspace.segment_values_.reserve(static_cast<size_t>(max_segment_values(sizes)));
  return workspace;
}

Result<Step> Workspace::begin(const ForwardBatch& batch, device::Device& device) {
  Step step = largest_;
  inputs_.clear();
  // First: a kernel's list of structs begins at a multiple of their size.
  const bool draws = !std::ranges::all_of(batch.draws, &Draw::is_argmax);
  step.draws = inputs_.add(draws ? std::span<const Draw>(batch.draws) : std::span<const Draw>());
  step.token_ids = inputs_.add(batch.token_ids);
  step.positions = inputs_.add(batch.rope_positions.empty() ? batch.positions : batch.rope_positions);
  step.slot_mapping = inputs_.add(batch.slot_mapping);
  step.sequences.cu_seqlens = inputs_.add(batch.cu_seqlens);
  step.sequences.context_lens = inputs_.add(batch.context_lens);
  step.sequences.max_context = *std::ranges::max_element(batch.context_lens);
  step.sequences.state_slots = inputs_.add(batch.state_slots);
  step.fresh_slots = inputs_.add(batch.fresh_slots);
  step.logits_rows = inputs_.add(batch.logits_rows);
  if (!batch.adapters.empty()) step.adapter_slots = inputs_.add(batch.adapters);
  if (!batch.previous_rows.empty() && hidden_ring_ > 0) step.sequences.block_tables = step.head.block_tables;
  PAGODA_RETURN_IF_ERROR(fill_tables(step.sequences.block_tables, batch, device));
  step.wants_all_rows = wants_all_rows(batch);
  for (device::Tensor* t : {&step.hidden, &step.normed, &step.delta, &step.projected, &step.inner, &step.mixed})
    *t = device::slice(*t, 0, 0, batch.num_tokens());
  for (device::Tensor* t : {&step.streams_normed, &step.streams_gates, &step.streams_weights, &step.ngram_rows,
                            &step.ngram_keys, &step.chosen_blocks})
    if (t->shape[0] > 0) *t = device::slice(*t, 0, 0, batch.num_tokens());
  if (step.head_ids.shape[0] > 0) step.head_ids = device::slice(step.head_ids, 0, 0, batch.num_tokens());
  if (step.expert_ids.shape[0] > 0) {
    for (device::Tensor* t : {&step.router, &step.expert_ids, &step.expert_weights})
      *t = device::slice(*t, 0, 0, batch.num_tokens());
    for (device::Tensor* t : {&step.expert_inner, &step.expert_delta})
      *t = device::slice(*t, 0, 0, batch.num_tokens() * step.expert_ids.shape[1]);
  }
  for (device::Tensor* t : {&step.gathered, &step.logits})
    *t = device::slice(*t, 0, 0, static_cast<int64_t>(batch.logits_rows.size()));
  const bool picks = std::ranges::any_of(batch.draws, [](const Draw& draw) { return draw.top_k > 0; });
  step.picked = device::slice(step.picked, 0, 0, picks ? step.logits.shape[0] : 0);
  const bool scores = std::ranges::any_of(batch.draws, [](const Draw& draw) { return draw.num_logprobs > 0; });
  step.scores = scores ? device::slice(step.scores, 0, 0, step.logits.shape[0]) : device::Tensor{};
  PAGODA_RETURN_IF_ERROR(upload_front(step.edits, std::span(batch.edits), device));
  PAGODA_RETURN_IF_ERROR(upload_front(step.masks, std::span(batch.masks), device));
  step.host_positions = batch.positions;
  if (hidden_ring_ > 0 && (batch.feeds_head || !batch.previous_rows.empty())) begin_head(batch, step);
  cut_segments(batch, step);
  PAGODA_RETURN_IF_ERROR(begin_images(batch, step, device));
  PAGODA_RETURN_IF_ERROR(inputs_.upload(device));
  step.segments = segments_;
  cut_rope_runs(batch);
  step.rope_runs = rope_runs_;
  return step;
}

Result<Step> Workspace::begin_rows(std::span<const int32_t> rows, device::Device& device) {
  Step step = largest_;
  for (device::Tensor* t : {&step.gathered, &step.logits})
    *t = device::slice(*t, 0, 0, static_cast<int64_t>(rows.size()));
  inputs_.clear();
  step.logits_rows = inputs_.add(rows);
  PAGODA_RETURN_IF_ERROR(inputs_.upload(device));
  return step;
}

}  // namespace pagoda::model

// Workspace: inputs, activations and logits of the largest step, planned once in one buffer and cut to size per step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "io/config/model_config.h"
#include "model/forward_batch.h"
#include "model/model.h"
#include "model/step_inputs.h"

namespace pagoda::model {

// A run of rows between two saves of a state: recurrent ops run once per segment, all others over the whole step at
// once.
struct Segment {
  int64_t first_row = 0, num_rows = 0;
  device::SequenceArgs sequences;  // parts of sequences; rows count from first_row
  bool has_save = false;
  Copy save;  // slots, after the segment
};

// Rows of a step that rotate with the same speeds: a row of the table (model/layers/rope.h).
struct RopeRun {
  int64_t first_row = 0, num_rows = 0, table_row = 0;
};

// Buffers of the MTP head for a step; all without rows where there is none. R: rows that outlive the step.
struct HeadStep {
  device::Tensor block_tables;  // i32 [B, max_blocks]: of Model::draft(), so that those of the steps stay
  device::Tensor before;  // i32 [B]: row of HiddenPool::rows(), or of all_output, with the state before the first row
  device::Tensor shift;   // i32 [T]: row of `hidden` with the state before each row
  device::Tensor kept;    // i32 [R]: rows of `hidden`
  device::Tensor kept_places;  // i64 [R]: and where in HiddenPool::rows() they go
  device::Tensor hidden;       // f32 [B + T, H]: states before the first rows, then those of all rows
  device::Tensor tail;         // f32 [R, H]
  device::Tensor pairs;        // f32 [T, 2 H]
  device::Tensor all_output;   // f32 [max_num_seqs, H]: of the last Model::draft()
  device::Tensor output;       // its first B rows
};

// The tensors of one step. T tokens, B sequences, R rows of logits, H hidden size.
struct Step {
  device::Tensor token_ids, positions;      // i32 [T]
  std::span<const int32_t> host_positions;  // the same
  device::Tensor slot_mapping;              // i64 [T]
  device::SequenceArgs sequences;
  std::span<const Segment> segments;       // in order, together all rows
  std::span<const RopeRun> rope_runs;      // in order, together all rows; one where speeds do not depend on position
  device::Tensor inputs;                   // where all lists of integers lie, but for block tables
  device::Tensor fresh_slots;              // i32 [n]
  device::Tensor logits_rows;              // i32 [R]
  bool wants_all_rows = false;             // logits_rows are 0, 1, ... T - 1
  device::Tensor hidden;                   // f32 [T, H]: the residual stream
  device::Tensor normed;                   // f32 [T, H]: what a mixer, the MLP or the head reads
  device::Tensor delta;                    // f32 [T, H]: what a mixer or the MLP adds
  device::Tensor projected, inner, mixed;  // f32 [T, as wide as the widest layer needs]; see as_rows()
  device::Tensor router;                   // f32 [T, E + 1]: logits of experts, and of a shared one's gate
  device::Tensor head_ids;        // i32 [T, heads]: 0, 1, ... in every row; without rows where there are no latents
  device::Tensor expert_ids;      // i32 [T, k]
  device::Tensor expert_weights;  // f32 [T, k]
  device::Tensor expert_inner;    // f32 [T * k, F of an expert]
  device::Tensor expert_delta;    // f32 [T * k, H]; all five without rows where there are no experts
  HeadStep head;
  device::Tensor gathered;  // f32 [R, H]
  device::Tensor logits;    // f32 [R, vocab]
  device::Tensor picked;    // i32 [R], or without rows where all logits are wanted
  device::Tensor draws;     // i64 [R, 4], or without rows where none but the highest are taken
};

// From one row to the next: an odd number of cache lines. Rows a multiple of 4 KiB apart would fall into the same few
// sets of a cache, and a matmul that writes 16 rows at a time would lose a quarter of its speed.
constexpr int64_t row_stride(int64_t width) noexcept { return ((width + 15) / 16 | 1) * 16; }

// A scratch tensor as rows of `width` numbers, which must fit its own rows.
inline device::Tensor as_rows(const device::Tensor& scratch, int64_t width) noexcept {
  device::Tensor rows = device::dense(scratch.buffer, scratch.dtype, {scratch.shape[0], width}, scratch.offset_bytes);
  rows.strides[0] = row_stride(width);
  return rows;
}

class Workspace {
 public:
  static Result<Workspace> allocate(const io::ModelConfig& config, const EngineLimits& sizes, device::Device& device);
  static int64_t size_bytes(const io::ModelConfig& config, const EngineLimits& sizes) noexcept;
  static device::StepLimits step_limits(const io::ModelConfig& config, const EngineLimits& sizes) noexcept;

  bool is_host_visible() const noexcept { return buffer_->host_pointer() != nullptr; }

  // Uploads the inputs of a checked batch and cuts every tensor to it. The step is valid until the next one begins.
  Result<Step> begin(const ForwardBatch& batch, device::Device& device);
  // The same for logits of rows of the step before: only logits_rows, gathered and logits are to be used.
  Result<Step> begin_rows(std::span<const int32_t> rows, device::Device& device);

  const Step& largest() const noexcept { return largest_; }  // as large as any step may be

 private:
  void cut_rope_runs(const ForwardBatch& batch);
  void begin_head(const ForwardBatch& batch, Step& step);
  void cut_pieces(const ForwardBatch& batch, const Step& step);

  std::unique_ptr<device::Buffer> buffer_, picked_;
  Step largest_;
  StepInputs inputs_;
  std::vector<Segment> segments_;
  io::RopeConfig rope_;
  int64_t num_rope_rows_ = 1;
  std::vector<RopeRun> rope_runs_;              // reserved for a run of each token where speeds depend on position
  int64_t hidden_ring_ = 0;                     // rows of a slot in the HiddenPool
  std::vector<int32_t> before_, shift_, kept_;  // of the head; reserved
  std::vector<int64_t> kept_places_;
  // cu_seqlens, context_lens and state_slots, segment after segment; reserved for the most that saves can make of a
  // step
  std::vector<int32_t> piece_values_;
};

}  // namespace pagoda::model

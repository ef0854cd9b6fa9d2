// Workspace: inputs, activations and logits of the largest step, planned once in one buffer and sliced per step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "io/config/model_config.h"
#include "model/adapters/pool.h"
#include "model/forward_batch.h"
#include "model/model.h"
#include "model/step_inputs.h"

namespace pagoda::model {

// A run of rows between two state saves: recurrent ops run once per segment, all others once over the whole
// step.
struct Segment {
  int64_t first_row = 0, num_rows = 0;
  device::SequenceArgs sequences;  // parts of sequences; rows count from first_row
  bool has_save = false;
  Copy save;  // slots, after the segment
};

// Rows of a step that rotate with the same frequencies: a row of the table (model/layers/rope.h).
struct RopeRun {
  int64_t first_row = 0, num_rows = 0, table_row = 0;
  bool is_image = false;  // rotated by three coordinates, each with its own frequencies (image_rope_row())
};

// Buffers of the MTP head for a step; all empty if there is none. R: rows that outlive the step.
struct HeadStep {
  device::Tensor block_tables;  // i32 [B, max_blocks]: tables for Model::draft(); those of the steps persist
  device::Tensor before;  // i32 [B]: row of HiddenPool::rows(), or of all_output, with the state before the first row
  device::Tensor shift;   // i32 [T]: row of `hidden` with the state before each row
  device::Tensor kept;    // i32 [R]: rows of `hidden`; absent if `tail` is all of them, the usual case
  device::Tensor kept_slots;  // i64 [R]: the rows of HiddenPool::rows() they are written to
  // H is that of all residual streams; Step::hidden is in `hidden` if there are several.
  device::Tensor hidden;      // f32 [B + T, H]: states before the first rows, then those of all rows
  device::Tensor tail;        // f32 [R, H]: the kept rows
  device::Tensor pairs;       // f32 [T, 2 H]; of several streams [T, H]: the head's own
  device::Tensor all_output;  // f32 [max_num_seqs, H]: output of the last Model::draft()
  device::Tensor output;      // its first B rows
};

// The tensors of one step. T tokens, B sequences, R rows of logits, H hidden size.
struct Step {
  device::Tensor token_ids, positions;      // i32 [T]; positions of the rotation
  device::Tensor heights, widths;           // i32 [T]; absent if no row is an image's
  std::span<const ImageRows> image_rows;    // in order
  device::Tensor image_embeddings;          // f32 [rows of images, H]; empty if the model has no tower
  device::Tensor image_order;               // i32 [rows of images]: 0, 1, ...
  std::span<const int32_t> host_positions;  // the positions on the host
  device::Tensor slot_mapping;              // i64 [T]
  device::SequenceArgs sequences;
  std::span<const Segment> segments;   // in order, together all rows
  std::span<const RopeRun> rope_runs;  // in order, together all rows; one run if frequencies do not depend on position
  device::Tensor inputs;               // contains all integer lists except block tables
  device::Tensor fresh_slots;          // i32 [n]
  device::Tensor logits_rows;          // i32 [R]
  bool wants_all_rows = false;         // logits_rows are 0, 1, ... T - 1
  device::Tensor hidden;               // f32 [T, H]: the residual stream; of several, [T, streams * H]
  device::Tensor normed;               // f32 [T, H]: input of a mixer, the MLP or the head
  device::Tensor delta;                // f32 [T, H]: output of a mixer or the MLP
  device::Tensor projected, inner, mixed;  // f32 [T, as wide as the widest layer needs]; see as_rows()
  device::Tensor streams_normed;           // f32 [T, streams * H]; the streams themselves are `hidden`
  device::Tensor streams_gates;            // f32 [T, streams * H]
  device::Tensor streams_weights;         // f32 [T, rank | weight of each stream]; empty with one stream, as the others
  device::Tensor ngram_rows;              // f32 [T, dims of an n-gram embedding]
  device::Tensor ngram_keys;              // f32 [T, (streams + 1) * H]; both are empty without n-grams
  device::Tensor chosen_blocks;           // i32 [T, K]; empty without an indexer
  device::Tensor router;                  // f32 [T, E + 1]: logits of experts, and of a shared one's gate
  device::Tensor head_ids;                // i32 [T, heads]: 0, 1, ... in every row; empty if there are no latents
  device::Tensor expert_ids;              // i32 [T, k]
  device::Tensor expert_weights;          // f32 [T, k]
  device::Tensor expert_inner;            // f32 [T * k, F of an expert]; 2 F with memory for adapters
  device::Tensor expert_delta;            // f32 [T * k, H]; all five are empty if there are no experts
  const AdapterPool* adapters = nullptr;  // null: the model has no memory for adapters
  device::Tensor adapter_slots;           // i32 [T]: -1 for rows without one; absent if no row has an adapter
  device::Tensor adapter_inner;           // f32 [AdapterPool::inner_size()]; empty without memory for adapters
  HeadStep head;
  device::Tensor gathered;  // f32 [R, H]
  device::Tensor logits;    // f32 [R, vocab]
  device::Tensor picked;    // i32 [R]; empty if all logits are needed
  device::Tensor scores;    // i64 [R, 22]: a RowScore each; absent if no draw asks for log probabilities
  device::Tensor draws;     // i64 [R, 7]; empty if only the argmax is needed
  device::Tensor edits;     // i32 [n, 4]: a LogitEdit each; as many as fit, whatever the step has
  device::Tensor masks;     // i32 [n, 2 mask_words(vocab)]; as many as fit
};

// The stride between rows: an odd number of cache lines. Rows a multiple of 4 KiB apart would map to the same few
// sets of a cache, and a matmul that writes 16 rows at a time would lose a quarter of its speed.
constexpr int64_t row_stride(int64_t width) noexcept { return ((width + 15) / 16 | 1) * 16; }

// A scratch tensor as rows of `width` numbers, which must fit its own rows.
inline device::Tensor as_rows(const device::Tensor& scratch, int64_t width) noexcept {
  device::Tensor rows = device::dense(scratch.buffer, scratch.dtype, {scratch.shape[0], width}, scratch.offset_bytes);
  rows.strides[0] = row_stride(width);
  return rows;
}

// Adds the products of the rows' adapters to those of a weight of the layer; nothing if no row has one. `experts`: ids
// [T, k] if the weight is of experts.
Status add_adapters(device::Encoder& encoder, const Step& step, int layer_index, Role role, const device::Tensor& x,
                    const device::Tensor& out, const device::Tensor& experts = {});
bool has_adapters(const Step& step, int layer_index, Role role) noexcept;

class Workspace {
 public:
  static Result<Workspace> allocate(const io::ModelConfig& config, const EngineLimits& sizes, device::Device& device);
  static int64_t size_bytes(const io::ModelConfig& config, const EngineLimits& sizes) noexcept;
  static device::StepLimits step_limits(const io::ModelConfig& config, const EngineLimits& sizes) noexcept;

  bool is_host_visible() const noexcept { return buffer_->host_pointer() != nullptr; }

  // Uploads the inputs of a checked batch and slices every tensor to its size. The step is valid until the next one.
  Result<Step> begin(const ForwardBatch& batch, device::Device& device);
  // The same for logits of rows of the previous step: only logits_rows, gathered and logits may be used.
  Result<Step> begin_rows(std::span<const int32_t> rows, device::Device& device);

  const Step& largest() const noexcept { return largest_; }  // as large as any step can be

 private:
  void cut_rope_runs(const ForwardBatch& batch);
  Status begin_images(const ForwardBatch& batch, Step& step, device::Device& device);
  void begin_head(const ForwardBatch& batch, Step& step);
  void cut_segments(const ForwardBatch& batch, const Step& step);

  std::unique_ptr<device::Buffer> buffer_, picked_;
  Step largest_;
  StepInputs inputs_;
  std::vector<Segment> segments_;
  io::RopeConfig rope_;
  int64_t num_rope_rows_ = 1;
  std::vector<int32_t> image_order_;            // 0, 1, ... for the largest step; empty without a tower
  std::vector<RopeRun> rope_runs_;              // reserved for one run per token if frequencies depend on position
  int64_t hidden_ring_ = 0;                     // rows of a slot in the HiddenPool
  std::vector<int32_t> before_, shift_, kept_;  // for the MTP head; reserved
  std::vector<int64_t> kept_slots_;
  // cu_seqlens, context_lens and state_slots, segment by segment; reserved for the most segments that saves can
  // create
  std::vector<int32_t> segment_values_;
};

}  // namespace pagoda::model

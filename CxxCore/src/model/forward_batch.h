// ForwardBatch: one step's input as flat host arrays; built by the engine from a StepPlan, read by the model.
// Vectors are reserved once for the largest step and refilled, so a step allocates nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/draw.h"
#include "cache/copy.h"

namespace pagoda::model {

using cache::Copy;

// When the rows before `end_row` are computed, and before any later row, the state in slot `from` is copied to `to`:
// a checkpoint in the middle of a chunk, without splitting the chunk.
struct StateSave {
  int32_t end_row = 0;
  int32_t from = 0, to = 0;
};

// Entries [first, first + count) of a row of the block tables.
struct TableChange {
  int32_t row = 0, first = 0, count = 0;
};

// Rows of image tokens: their embeddings are given, row by row.
struct ImageRows {
  int32_t first_row = 0, num_rows = 0;
  int32_t first_token = 0;        // of the image
  const float* tokens = nullptr;  // [tokens of the image, VisionConfig::row_size()]
};

struct ForwardBatch {
  std::vector<int32_t> token_ids;  // [T]
  std::vector<int32_t> positions;  // [T]
  // [T] the positions of the rotation if they differ from `positions`: some sequence of the step has images. Of image
  // tokens these are the coordinates in time; `heights` and `widths`, [T], are present if there are image_rows.
  std::vector<int32_t> rope_positions, heights, widths;
  std::vector<ImageRows> image_rows;  // in order of rows
  std::vector<int64_t> slot_mapping;  // [T] block * block_size + offset
  std::vector<int32_t> cu_seqlens;    // [B + 1]
  std::vector<int32_t> context_lens;  // [B]
  std::vector<int32_t> block_tables;  // [B, max_blocks_per_seq], or more rows
  // A table of 262,144 tokens has 16,384 entries, and a step rarely adds one: the model keeps its own copy and
  // reads only the entries of these rows that changed since the last step, at most one range per row. Empty: reads all.
  bool has_table_changes = false;
  std::vector<TableChange> table_changes;
  std::vector<int32_t> state_slots;  // [B]; empty for models without recurrent layers
  std::vector<int32_t> fresh_slots;  // state slots that start a sequence in this step and must be zeroed
  // [T] slots of the rows' LoRA adapters, -1 for none; empty if no row has one.
  std::vector<int32_t> adapters;
  std::vector<int32_t> logits_rows;  // [R] rows of T whose logits are needed
  // [R] sampling parameters for devices that sample (Model::picked()); top_k 0 returns logits. Empty: logits of all
  // rows.
  std::vector<Draw> draws;
  std::vector<LogitEdit> edits;  // of all draws
  std::vector<uint64_t> masks;   // [n, mask_words(vocab)] of the draws: bit i % 64 of word i / 64 allows token i
  bool keeps_states = false;     // keeps the states of all rows, for Model::project() and read_state()
  bool feeds_head = false;       // the MTP head processes every row, so that it can draft later
  bool skips_head_rows = false;  // with feeds_head: the head's keys and values are not computed; later drafts get worse
  bool skips_head_states = false;  // with skips_head_rows: nor are the states kept with which the head would continue
  std::vector<int32_t>
      previous_rows;  // [B] for Model::draft(): the sequences' rows in the previous call, -1 in the first
  // Executed before the rows, each list in order: a later copy may overwrite the source of an earlier one.
  std::vector<Copy> block_copies, slot_copies;
  std::vector<StateSave> state_saves;  // in order of end_row; at most one per row, and max_num_seqs in total

  int num_tokens() const noexcept { return static_cast<int>(token_ids.size()); }
  int num_seqs() const noexcept { return static_cast<int>(context_lens.size()); }
};

}  // namespace pagoda::model

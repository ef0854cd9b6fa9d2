// Workspace: cuts the rows of a batch into runs and segments, and lays out the inputs of the draft head and of images.
#include <algorithm>
#include <ranges>
#include <vector>

#include "model/layers/rope.h"
#include "model/workspace.h"

namespace pagoda::model {
namespace {

// Appends the parts of sequences in rows [begin, end) to `values` as three consecutive lists; returns their number.
int64_t add_segment(const ForwardBatch& batch, int32_t begin, int32_t end, std::vector<int32_t>& values) {
  const size_t num_seqs = batch.context_lens.size();
  const auto for_each_part = [&](auto&& body) {
    for (size_t b = 0; b < num_seqs; ++b) {
      const int32_t last = std::min(batch.cu_seqlens[b + 1], end);
      if (std::max(batch.cu_seqlens[b], begin) < last) body(b, last);
    }
  };
  int64_t count = 0;
  values.push_back(0);
  for_each_part([&](size_t, int32_t last) { values.push_back(last - begin), ++count; });
  for_each_part(
      [&](size_t b, int32_t last) { values.push_back(batch.context_lens[b] - batch.cu_seqlens[b + 1] + last); });
  for_each_part([&](size_t b, int32_t) { values.push_back(batch.state_slots[b]); });
  return count;
}

}  // namespace

void Workspace::cut_rope_runs(const ForwardBatch& batch) {
  rope_runs_.clear();
  const int64_t num_rows = batch.num_tokens();
  if (!rope_.depends_on_position()) {  // text, an image, text, ...
    int64_t row = 0;
    for (const ImageRows& image : batch.image_rows) {
      if (image.first_row > row) rope_runs_.push_back({row, image.first_row - row, 0});
      rope_runs_.push_back({image.first_row, image.num_rows, 0, /*is_image=*/true});
      row = image.first_row + image.num_rows;
    }
    if (row < num_rows) rope_runs_.push_back({row, num_rows - row, 0});
    return;
  }
  for (int64_t row = 0; row < num_rows; ++row) {
    const int64_t table_row = rope_row(rope_, num_rope_rows_, batch.positions[row]);
    if (!rope_runs_.empty() && rope_runs_.back().table_row == table_row) ++rope_runs_.back().num_rows;
    else rope_runs_.push_back({row, 1, table_row});
  }
}

void Workspace::cut_segments(const ForwardBatch& batch, const Step& step) {
  segments_.clear();
  if (batch.state_saves.empty())
    return segments_.push_back(
        {.first_row = 0, .num_rows = batch.num_tokens(), .sequences = step.sequences, .save = {}});
  segment_values_.clear();
  const auto cut = [&](int32_t begin, int32_t end, const StateSave* save) {
    if (begin == end) return;
    int64_t first = static_cast<int64_t>(segment_values_.size());
    const int64_t count = add_segment(batch, begin, end, segment_values_);
    const auto take = [&](int64_t size) {  // the list's offset in segment_values_, which are uploaded at the end
      first += size;
      return device::dense(nullptr, DType::i32, {size}, (first - size) * static_cast<int64_t>(sizeof(int32_t)));
    };
    Segment& segment = segments_.emplace_back();
    segment.first_row = begin;
    segment.num_rows = end - begin;
    segment.sequences.cu_seqlens = take(count + 1);
    segment.sequences.context_lens = take(count);
    segment.sequences.state_slots = take(count);
    segment.has_save = save != nullptr;
    if (save) segment.save = {save->from, save->to};
  };
  int32_t begin = 0;
  for (const StateSave& save : batch.state_saves) {
    cut(begin, save.end_row, &save);
    begin = save.end_row;
  }
  cut(begin, batch.num_tokens(), nullptr);
  const device::Tensor added = inputs_.add(segment_values_);
  for (Segment& segment : segments_)
    for (device::Tensor* t :
         {&segment.sequences.cu_seqlens, &segment.sequences.context_lens, &segment.sequences.state_slots}) {
      t->buffer = added.buffer;
      t->offset_bytes += added.offset_bytes;
    }
}

// The hidden state before each row, and the states to keep: the last of every sequence, and those before a save.
void Workspace::begin_head(const ForwardBatch& batch, Step& step) {
  const int64_t num_tokens = batch.num_tokens(), num_seqs = batch.num_seqs(), ring = hidden_ring_;
  const bool is_draft = !batch.previous_rows.empty();
  before_.clear(), shift_.clear(), kept_.clear(), kept_slots_.clear();
  auto save = batch.state_saves.begin();
  for (size_t b = 0; b < static_cast<size_t>(num_seqs); ++b) {
    const int32_t begin = batch.cu_seqlens[b], end = batch.cu_seqlens[b + 1];
    const auto slot_of = [&](int64_t slot, int64_t position) { return slot * ring + (position + ring) % ring; };
    const int64_t first = batch.positions[begin], slot = batch.state_slots[b];
    before_.push_back(is_draft && batch.previous_rows[b] >= 0 ? batch.previous_rows[b]
                                                              : static_cast<int32_t>(slot_of(slot, first - 1)));
    for (int32_t row = begin; row < end; ++row)
      shift_.push_back(static_cast<int32_t>(row == begin ? static_cast<int64_t>(b) : num_seqs + row - 1));
    const auto keep = [&](int32_t row, int64_t to_slot) {
      kept_.push_back(static_cast<int32_t>(num_seqs + row));
      kept_slots_.push_back(slot_of(to_slot, first + row - begin));
    };
    for (int32_t row = std::max(begin, end - static_cast<int32_t>(ring)); row < end; ++row) keep(row, slot);
    for (; save != batch.state_saves.end() && save->end_row <= end; ++save) keep(save->end_row - 1, save->to);
  }
  step.head.before = inputs_.add(before_);
  step.head.pairs = device::slice(step.head.pairs, 0, 0, num_tokens);
  step.head.output = device::slice(step.head.all_output, 0, 0, num_seqs);
  if (is_draft) return;
  const bool keeps_all = std::ranges::equal(kept_, std::views::iota(num_seqs, num_seqs + num_tokens));
  step.head.shift = inputs_.add(shift_);
  step.head.kept = keeps_all ? device::Tensor{} : inputs_.add(kept_);
  step.head.kept_slots = inputs_.add(kept_slots_);
  step.head.hidden = device::slice(step.head.hidden, 0, 0, num_seqs + num_tokens);
  if (step.streams_normed.shape[0] > 0) step.hidden = device::slice(step.head.hidden, 0, num_seqs, num_tokens);
  step.head.tail = keeps_all ? device::slice(step.head.hidden, 0, num_seqs, num_tokens)
                             : device::slice(step.head.tail, 0, 0, static_cast<int64_t>(kept_.size()));
}

// The rows of all images of the step, one after the other, are uploaded; the step copies them to its rows.
Status Workspace::begin_images(const ForwardBatch& batch, Step& step, device::Device& device) {
  int64_t num_rows = 0;
  for (const ImageRows& image : batch.image_rows) {
    const int64_t width = step.image_embeddings.shape[1];
    PAGODA_RETURN_IF_ERROR(device.upload(device::slice(step.image_embeddings, 0, num_rows, image.num_rows),
                                         image.tokens + image.first_token * width,
                                         static_cast<size_t>(image.num_rows * width) * sizeof(float)));
    num_rows += image.num_rows;
  }
  step.image_rows = batch.image_rows;
  step.image_embeddings = device::slice(step.image_embeddings, 0, 0, num_rows);
  if (num_rows == 0) return ok_status();
  step.heights = inputs_.add(batch.heights);
  step.widths = inputs_.add(batch.widths);
  step.image_order = inputs_.add(std::span<const int32_t>(image_order_).first(static_cast<size_t>(num_rows)));
  return ok_status();
}

}  // namespace pagoda::model

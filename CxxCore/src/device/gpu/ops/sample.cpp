// sample: one threadgroup per part of a row keeps its most likely tokens, then one per row draws among those. Rows
// without top-k find the last token of their top-p mass instead, if they have one, and sum the weights of those that
// may be drawn. Rows with log probabilities do the first and the last again for the logits before any change.
#include "args/sample.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

static_assert(sizeof(Draw) == sizeof(pagoda_args::SampleRow));
static_assert(offsetof(Draw, random) == offsetof(pagoda_args::SampleRow, random));
static_assert(offsetof(Draw, temperature) == offsetof(pagoda_args::SampleRow, temperature));
static_assert(offsetof(Draw, top_k) == offsetof(pagoda_args::SampleRow, top_k));
static_assert(offsetof(Draw, mask) == offsetof(pagoda_args::SampleRow, mask));
static_assert(offsetof(Draw, num_logprobs) == offsetof(pagoda_args::SampleRow, num_logprobs));
static_assert(sizeof(RowScore) == sizeof(pagoda_args::SampleScore));
static_assert(offsetof(RowScore, logits) == offsetof(pagoda_args::SampleScore, logits));
static_assert(sizeof(LogitEdit) == sizeof(pagoda_args::SampleEdit));
static_assert(offsetof(LogitEdit, penalty) == offsetof(pagoda_args::SampleEdit, penalty));

void GpuEncoder::record(const SampleArgs& a) noexcept {
  const int64_t rows = a.logits.shape[0], vocab = a.logits.shape[1];
  if (!check_scratch(ScratchSizes::sample(rows, vocab), "sample") || !accept(a, a.draws)) return;
  pagoda_args::Sample args{};
  args.logits_stride = a.logits.strides[0];
  args.vocab = as_uint(vocab);
  args.parts = as_uint(ceil_divide(vocab, kSamplePart));
  args.mask_words = a.masks.is_present() ? as_uint(a.masks.shape[1]) : 0;
  const Grid by_part{{args.parts, as_uint(rows)}, 256}, by_row{{as_uint(rows)}, 256};
  const Slot edits = or_else(a.edits, a.draws), masks = or_else(a.masks, a.draws);
  const SampleLayout layout(rows, vocab);
  const auto piece = [&](int64_t begin, int64_t end) {
    Slot slot(scratch_.found, begin);
    slot.size_bytes = static_cast<size_t>(end - begin);
    return slot;
  };
  const Slot found = piece(0, layout.sums), sums = piece(layout.sums, layout.cuts);
  const Slot cuts = piece(layout.cuts, layout.highest), highest = piece(layout.highest, layout.end);
  launch(kernels::sample_parts::kernel, by_part, {a.logits, a.draws, edits, masks, found, highest}, args);
  launch(kernels::sample::kernel, by_row, {found, a.draws, a.tokens}, args);
  if (a.has_nucleus) {
    for (args.level = 0; args.level < 2; ++args.level) {
      launch(kernels::sample_masses::kernel, by_part, {a.logits, a.draws, edits, masks, highest, cuts, found}, args);
      launch(kernels::sample_bucket::kernel, by_row, {a.draws, highest, found, cuts}, args);
    }
    launch(kernels::sample_gather::kernel, by_part, {a.logits, a.draws, edits, masks, highest, cuts, found}, args);
    launch(kernels::sample_last::kernel, by_row, {a.draws, highest, found, cuts}, args);
  }
  if (a.has_whole) {
    launch(kernels::sample_sums::kernel, by_part, {a.logits, a.draws, edits, masks, highest, cuts, sums}, args);
    launch(kernels::sample_anywhere::kernel, by_row, {a.logits, a.draws, edits, masks, highest, cuts, sums, a.tokens},
           args);
  }
  if (!a.scores.is_present()) return;
  args.is_raw = 1;
  launch(kernels::sample_parts::kernel, by_part, {a.logits, a.draws, edits, masks, found, highest}, args);
  launch(kernels::sample_sums::kernel, by_part, {a.logits, a.draws, edits, masks, highest, cuts, sums}, args);
  launch(kernels::sample_scores::kernel, by_row, {a.logits, a.draws, found, highest, sums, a.tokens, a.scores}, args);
}

}  // namespace pagoda::device::gpu

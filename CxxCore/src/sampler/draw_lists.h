// DrawLists: the changes of logits and the masks of a step's draws, for devices that sample. A row's list is as long as
// its distinct counted tokens, not as the vocabulary, and rows with the same mask share its copy: 32 KB for 248,000
// tokens, which a GPU receives before each step. State: scratch of the size of the vocabulary, and the masks of the
// step.
#pragma once

#include <span>
#include <vector>

#include "base/draw.h"
#include "sampler/sampler.h"

namespace pagoda::sampler {

class DrawLists {
 public:
  // max_rows: of a step.
  DrawLists(int32_t vocab_size, int32_t max_rows);

  // The lists of a step: reserved once, cleared and filled again.
  void reserve(std::vector<LogitEdit>& edits, std::vector<uint64_t>& masks) const;

  // Appends what the sampler changes in the logits of `input`, and notes in `draw` where. `ahead`: drafts before the
  // row, which are not counted yet. False if a device cannot apply it, or there is no room; no edit is appended then.
  // Masks stay as they are until the lists are cleared.
  bool add(const SampleInput& input, std::span<const int32_t> ahead, Draw& draw, std::vector<LogitEdit>& edits,
           std::vector<uint64_t>& masks) noexcept;

 private:
  LogitEdit* edit_of(int32_t id, size_t first, std::vector<LogitEdit>& edits) noexcept;
  bool add_biases(const SampleInput& input, size_t first, std::vector<LogitEdit>& edits) noexcept;
  bool add_penalties(const SampleInput& input, std::span<const int32_t> ahead, size_t first,
                     std::vector<LogitEdit>& edits) noexcept;
  uint32_t place_of(std::span<const uint64_t> mask, std::vector<uint64_t>& masks) noexcept;  // 0: there is no room

  size_t max_edits_, max_mask_words_, mask_words_;
  std::vector<uint32_t> places_;                      // [vocab] 1 + the index in the row's list; 0: not in it
  std::vector<const uint64_t*> copied_;               // the masks in the list below, in its order
  const std::vector<uint64_t>* copied_to_ = nullptr;  // it is empty again in the next step
};

}  // namespace pagoda::sampler

// DrawLists: one entry per token, in any order.
#include "sampler/draw_lists.h"

#include <algorithm>

namespace pagoda::sampler {

DrawLists::DrawLists(int32_t vocab_size, int32_t max_rows)
    : max_edits_(static_cast<size_t>(max_rows * kEditsPerRow)),
      max_mask_words_(static_cast<size_t>(max_rows * mask_words(vocab_size))),
      mask_words_(static_cast<size_t>(mask_words(vocab_size))),
      places_(static_cast<size_t>(vocab_size)) {
  copied_.reserve(static_cast<size_t>(max_rows));
}

void DrawLists::reserve(std::vector<LogitEdit>& edits, std::vector<uint64_t>& masks) const {
  edits.reserve(max_edits_);
  masks.reserve(max_mask_words_);
}

// Null if there is no room. Ids outside the vocabulary change nothing.
LogitEdit* DrawLists::edit_of(int32_t id, size_t first, std::vector<LogitEdit>& edits) noexcept {
  uint32_t& place = places_[static_cast<size_t>(id)];
  if (place == 0) {
    if (edits.size() == std::min(max_edits_, edits.capacity())) return nullptr;
    edits.push_back({.id = static_cast<uint32_t>(id)});
    place = static_cast<uint32_t>(edits.size() - first);
  }
  return &edits[first + place - 1];
}

// Two biases of one token are added one after the other by the sampler: their sum could round differently.
bool DrawLists::add_biases(const SampleInput& input, size_t first, std::vector<LogitEdit>& edits) noexcept {
  for (const LogitBias& entry : input.params->logit_bias) {
    if (entry.token_id < 0 || static_cast<size_t>(entry.token_id) >= places_.size()) continue;
    if (places_[static_cast<size_t>(entry.token_id)] != 0) return false;
    LogitEdit* edit = edit_of(entry.token_id, first, edits);
    if (!edit) return false;
    if (entry.bias <= kRemovingBias) edit->repetition = 0.0f;
    else edit->bias = entry.bias;
  }
  return true;
}

bool DrawLists::add_penalties(const SampleInput& input, std::span<const int32_t> ahead, size_t first,
                              std::vector<LogitEdit>& edits) noexcept {
  const TokenCounts& counts = *input.counts;
  if (counts.output.empty()) return true;
  const auto add = [&](int32_t id, uint32_t count) noexcept {
    LogitEdit* edit = edit_of(id, first, edits);
    if (!edit) return false;
    if (edit->repetition != 0.0f) edit->repetition = input.params->repetition_penalty;
    edit->penalty = count > 0 ? penalty_of(*input.params, count) : 0.0f;
    return true;
  };
  for (const int32_t id : counts.ids)
    if (!add(id, counts.output[static_cast<size_t>(id)])) return false;
  for (const int32_t id : ahead) {
    const auto more = static_cast<uint32_t>(std::ranges::count(ahead, id));
    if (!add(id, counts.output[static_cast<size_t>(id)] + more)) return false;
  }
  return true;
}

bool DrawLists::add(const SampleInput& input, std::span<const int32_t> ahead, Draw& draw, std::vector<LogitEdit>& edits,
                    std::vector<uint64_t>& masks) noexcept {
  const size_t first = edits.size();
  const uint32_t mask = input.allowed.empty() ? 0 : place_of(input.allowed, masks);
  if (!input.allowed.empty() && mask == 0) return false;
  bool fits = add_biases(input, first, edits) && (input.counts == nullptr || add_penalties(input, ahead, first, edits));
  for (const int32_t id : input.banned) {
    if (!fits || id < 0 || static_cast<size_t>(id) >= places_.size()) continue;
    LogitEdit* edit = edit_of(id, first, edits);
    fits = edit != nullptr;
    if (edit) edit->repetition = 0.0f;
  }
  for (size_t i = first; i < edits.size(); ++i) places_[edits[i].id] = 0;
  if (!fits) edits.resize(first);
  draw.first_edit = static_cast<uint32_t>(first);
  draw.num_edits = static_cast<uint32_t>(edits.size() - first);
  draw.mask = mask;
  return fits;
}

// Grammars give requests in the same state one mask in common. Its address is not enough: the memory may have another
// mask by now.
uint32_t DrawLists::place_of(std::span<const uint64_t> mask, std::vector<uint64_t>& masks) noexcept {
  if (copied_to_ != &masks || masks.size() != copied_.size() * mask_words_) copied_.clear();
  const bool is_listed = masks.empty() || !copied_.empty();
  copied_to_ = &masks;
  const auto same = std::ranges::find(copied_, mask.data());
  if (same != copied_.end()) {
    const auto index = static_cast<size_t>(same - copied_.begin());
    if (std::ranges::equal(mask, std::span(masks).subspan(index * mask_words_, mask_words_)))
      return static_cast<uint32_t>(index) + 1;
  }
  const size_t room = std::min(max_mask_words_, masks.capacity()) - masks.size();
  if (mask.size() != mask_words_ || room < mask_words_) return 0;
  masks.insert(masks.end(), mask.begin(), mask.end());
  if (is_listed && copied_.size() < copied_.capacity()) copied_.push_back(mask.data());
  return static_cast<uint32_t>(masks.size() / mask_words_);
}

}  // namespace pagoda::sampler

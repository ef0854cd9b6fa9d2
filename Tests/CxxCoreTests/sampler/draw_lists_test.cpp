// DrawLists: rows with the same mask share its copy, in each step anew.
#include "sampler/draw_lists.h"

#include <cstdint>
#include <vector>

#include "support/test.h"

namespace pagoda::sampler {
namespace {

constexpr int32_t kVocab = 300, kRows = 4;

struct Step {
  std::vector<LogitEdit> edits;
  std::vector<uint64_t> masks;
};

// The mask that a device would apply to the row.
std::vector<uint64_t> mask_of(const Step& step, const Draw& draw) {
  const auto words = static_cast<size_t>(mask_words(kVocab));
  if (draw.mask == 0 || draw.mask * words > step.masks.size()) return {};
  const auto begin = step.masks.begin() + static_cast<std::ptrdiff_t>((draw.mask - 1) * words);
  return {begin, begin + static_cast<std::ptrdiff_t>(words)};
}

}  // namespace

PAGODA_TEST(sampler_draw_lists_share_equal_masks) {
  const auto words = static_cast<size_t>(mask_words(kVocab));
  DrawLists lists(kVocab, kRows);
  Step step, other;
  lists.reserve(step.edits, step.masks);
  lists.reserve(other.edits, other.masks);
  std::vector<uint64_t> first(words, 3), second(words, 5);
  const SamplingParams params;
  const auto add = [&](Step& to, const std::vector<uint64_t>& mask) {
    SampleInput input;
    input.params = &params;
    input.allowed = mask;
    Draw draw;
    CHECK(lists.add(input, {}, draw, to.edits, to.masks));
    CHECK(mask_of(to, draw) == mask);
    return draw.mask;
  };
  const uint32_t one = add(step, first), two = add(step, second);
  CHECK(one != two);
  CHECK_EQ(add(step, first), one);
  CHECK_EQ(add(step, second), two);
  CHECK_EQ(step.masks.size(), 2 * words);
  add(other, second);  // another list has none of them
  CHECK_EQ(other.masks.size(), words);
  CHECK_EQ(add(step, second) * words, step.masks.size());  // the first has them still, and this one again

  step.masks.clear();
  first[0] = 7;  // memory of an earlier step may belong to another mask now
  add(step, first);
  add(step, first);
  CHECK_EQ(step.masks.size(), words);
}

PAGODA_TEST(sampler_draw_lists_refuse_masks_without_room) {
  const auto words = static_cast<size_t>(mask_words(kVocab));
  DrawLists lists(kVocab, 2);
  Step step;
  lists.reserve(step.edits, step.masks);
  const SamplingParams params;
  const std::vector<std::vector<uint64_t>> masks(4, std::vector<uint64_t>(words, 9));
  std::vector<bool> fits;
  for (const size_t which : {0, 1, 2, 1, 0}) {
    SampleInput input;
    input.params = &params;
    input.allowed = masks[which];
    Draw draw;
    fits.push_back(lists.add(input, {}, draw, step.edits, step.masks));
  }
  CHECK((fits == std::vector<bool>{true, true, false, true, true}));
  const std::vector<uint64_t> short_one(words - 1, 1);
  SampleInput input;
  input.params = &params;
  input.allowed = short_one;
  Draw draw;
  CHECK(!lists.add(input, {}, draw, step.edits, step.masks));
}

}  // namespace pagoda::sampler

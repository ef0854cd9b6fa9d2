// Chooses positions for checkpoints in order of value until there are enough.
#include "cache/checkpoint_plan.h"

#include <algorithm>

namespace pagoda::cache {
namespace {

constexpr int32_t kTemplateTail = 8;    // tokens with which templates open an answer, such as "assistant\n<think>\n"
constexpr int32_t kTurnDistance = 128;  // between ends of turns that are neither first nor last

std::vector<int32_t> turn_ends(std::span<const int32_t> prompt, std::span<const int32_t> ids) {
  std::vector<int32_t> ends;
  for (size_t i = 0; i + 1 < prompt.size(); ++i)  // no prompt continues after the last token
    if (std::ranges::find(ids, prompt[i]) != ids.end()) ends.push_back(static_cast<int32_t>(i) + 1);
  return ends;
}

class Chosen {
 public:
  explicit Chosen(int32_t most) : most_(static_cast<size_t>(most)) {}

  void add(int32_t position, int32_t distance = 1) {
    const auto next = std::ranges::lower_bound(positions_, position);
    const bool is_far = (next == positions_.end() || *next - position >= distance) &&
                        (next == positions_.begin() || position - *(next - 1) >= distance);
    if (is_far && positions_.size() < most_) positions_.insert(next, position);
  }
  std::vector<int32_t> take() { return std::move(positions_); }

 private:
  size_t most_;
  std::vector<int32_t> positions_;  // ascending
};

}  // namespace

std::vector<int32_t> plan_checkpoints(std::span<const int32_t> prompt, std::span<const int32_t> turn_end_ids,
                                      std::span<const int32_t> requested, int32_t most) {
  const int32_t length = static_cast<int32_t>(prompt.size());
  if (most <= 0 || length < 2) return {};
  Chosen chosen(most);
  const std::vector<int32_t> turns = turn_ends(prompt, turn_end_ids);
  if (turns.empty() || length - turns.back() > kTemplateTail) chosen.add(length - 1);
  for (size_t i = turns.size(); i > 0 && i + 2 > turns.size(); --i) chosen.add(turns[i - 1]);
  if (!turns.empty()) chosen.add(turns.front());
  for (int32_t position : requested)
    if (position > 0 && position < length) chosen.add(position);
  int32_t grid = kCheckpointGrid;
  while (length / grid > std::max(1, most / 2)) grid *= 2;
  for (int32_t position = grid; position < length; position += grid) chosen.add(position);
  for (size_t i = turns.size(); i > 0; --i) chosen.add(turns[i - 1], kTurnDistance);
  return chosen.take();
}

}  // namespace pagoda::cache

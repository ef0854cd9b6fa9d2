// Policy: what it has learned as bytes, for the next process with the same model on the same machine.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "speculate/policy.h"

namespace pagoda::speculate {
namespace {

constexpr float kMaxRecalledTries = 8;  // of an acceptance: soon outweighed by what is seen now
constexpr double kMaxSeconds = 1e4;     // of a step
constexpr float kRounding = 1.001f;

// Numbers in the machine's own byte order, after the magic and a checksum of them.
class Writer {
 public:
  void add(double number) {
    const auto value = static_cast<float>(number);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string finish() const {
    const uint64_t sum = checksum(std::as_bytes(std::span(bytes_)));
    std::string text(Policy::kMemoryMagic);
    text.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    return text + bytes_;
  }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) noexcept {
    if (!text.starts_with(Policy::kMemoryMagic)) return;
    text.remove_prefix(Policy::kMemoryMagic.size());
    uint64_t sum = 0;
    if (text.size() < sizeof sum) return;
    std::memcpy(&sum, text.data(), sizeof sum);
    text.remove_prefix(sizeof sum);
    if (sum == checksum(std::as_bytes(std::span(text)))) rest_ = text, is_good_ = true;
  }
  // The next number; 0 once anything is wrong.
  float take(double lowest, double highest) noexcept {
    float value = 0;
    is_good_ = is_good_ && rest_.size() >= sizeof value;
    if (!is_good_) return 0;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    is_good_ = value >= lowest && value <= highest;  // false for NaN
    return is_good_ ? value : 0;
  }
  bool is_good_to_the_end() const noexcept { return is_good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_good_ = false;
};

}  // namespace

// Gains are not kept: another process has not earned what it would lose. Losses are, up to what every process may lose.
std::string Policy::memory() const {
  Writer writer;
  writer.add(has_head_);
  for (const StepCosts& costs : costs_)
    for (int32_t rows = 1; rows <= StepCosts::kMaxRows; ++rows) writer.add(costs.measured(rows));
  for (const RecentMedian* cost : {&draft_cost_, &update_cost_, &restart_cost_})
    writer.add(cost->is_present() ? cost->value() : -1);
  for (const Head& head : heads_) writer.add(head.rests);
  writer.add(std::min(account_, 0.0));
  for (const auto& source : prior_)
    for (const Acceptance& acceptance : source)
      for (size_t i = 0; i < acceptance.tries.size(); ++i) {
        const float weight = std::min(1.0f, kMaxRecalledTries / acceptance.tries[i]);
        writer.add(acceptance.tries[i] * weight);
        writer.add(acceptance.hits[i] * weight);
      }
  return writer.finish();
}

bool Policy::recall(std::string_view bytes) noexcept {
  Reader reader(bytes);
  Policy old = *this;
  old.has_head_ = reader.take(0, 1) != 0;
  for (StepCosts& costs : old.costs_)
    for (int32_t rows = 1; rows <= StepCosts::kMaxRows; ++rows)
      if (const double seconds = reader.take(0, kMaxSeconds); seconds > 0) costs.recall(rows, seconds);
  for (RecentMedian* cost : {&old.draft_cost_, &old.update_cost_, &old.restart_cost_})
    if (const double seconds = reader.take(-1, kMaxSeconds); seconds >= 0) cost->note(seconds);
  for (Head& head : old.heads_) head.rests = reader.take(0, 1) != 0;
  old.account_ = reader.take(-kMaxSeconds, 0);
  for (auto& source : old.prior_)
    for (Acceptance& acceptance : source)
      for (size_t i = 0; i < acceptance.tries.size(); ++i) {
        acceptance.tries[i] = reader.take(1, kMaxRecalledTries * kRounding);
        acceptance.hits[i] = reader.take(0, acceptance.tries[i] * kRounding);
      }
  if (!reader.is_good_to_the_end()) return false;
  old.begin_recalled();
  old.slots_ = std::move(slots_);  // its memory
  *this = std::move(old);
  return true;
}

}  // namespace pagoda::speculate

// A breadth-first walk over (configuration, position in the character) by one byte of each class.
#include "grammar/mask/plain_text.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "text/unicode/unicode.h"

namespace pagoda::grammar {
namespace {

// Positions in a UTF-8 sequence: between characters, before the last 1 to 3 bytes of one, and after a lead byte that
// restricts the next byte.
enum Utf8State : uint8_t { kBetween, kOne, kTwo, kThree, kAfterE0, kAfterEd, kAfterF0, kAfterF4 };

struct Range {
  Utf8State state;
  uint8_t low, high;
  Utf8State next;
};
constexpr Range kRanges[] = {
    {kBetween, 0x20, 0x21, kBetween}, {kBetween, 0x23, 0x5B, kBetween}, {kBetween, 0x5D, 0x7F, kBetween},
    {kBetween, 0xC2, 0xDF, kOne},     {kBetween, 0xE0, 0xE0, kAfterE0}, {kBetween, 0xE1, 0xEC, kTwo},
    {kBetween, 0xED, 0xED, kAfterEd}, {kBetween, 0xEE, 0xEF, kTwo},     {kBetween, 0xF0, 0xF0, kAfterF0},
    {kBetween, 0xF1, 0xF3, kThree},   {kBetween, 0xF4, 0xF4, kAfterF4}, {kOne, 0x80, 0xBF, kBetween},
    {kTwo, 0x80, 0xBF, kOne},         {kThree, 0x80, 0xBF, kTwo},       {kAfterE0, 0xA0, 0xBF, kOne},
    {kAfterEd, 0x80, 0x9F, kOne},     {kAfterF0, 0x90, 0xBF, kTwo},     {kAfterF4, 0x80, 0x8F, kTwo},
};

}  // namespace

bool is_plain_text(std::string_view bytes) noexcept {
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; };
  return std::ranges::all_of(bytes, is_plain) && text::find_invalid_utf8(bytes) == std::string_view::npos;
}

PlainText::PlainText(const Grammar& grammar) {
  for (const Range& range : kRanges) {
    int last_class = -1;  // bytes of a class are adjacent
    for (int byte = range.low; byte <= range.high; ++byte) {
      const int current = grammar.byte_class(static_cast<uint8_t>(byte));
      if (current != last_class) steps_[range.state].push_back({static_cast<uint8_t>(byte), range.next});
      last_class = current;
    }
  }
}

size_t PlainText::num_free_bytes(Automaton& automaton, int32_t id, size_t max_bytes) {
  std::vector<std::pair<int32_t, uint8_t>> positions{{id, kBetween}};
  std::unordered_set<uint64_t> seen{static_cast<uint64_t>(id) * kNumSteps + kBetween};
  size_t level_end = positions.size(), num_bytes = 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (i == level_end) {
      level_end = positions.size();
      ++num_bytes;
    }
    if (num_bytes == max_bytes || positions.size() > kMaxPositions) return num_bytes;
    const auto [configuration, state] = positions[i];
    for (const Step& step : steps_[state]) {
      const int32_t next = automaton.next(configuration, step.byte);
      if (next == Automaton::kDead) return num_bytes;
      if (seen.insert(static_cast<uint64_t>(next) * kNumSteps + step.next).second)
        positions.push_back({next, step.next});
    }
  }
  return max_bytes;
}

// Adds the configurations after one more character to `after`, each once. Returns whether all characters are accepted,
// or none.
PlainText::Reach PlainText::add_characters(Automaton& automaton, int32_t id, std::vector<int32_t>& after) {
  size_t num_dead = 0;
  positions_.assign(1, {id, kBetween});
  for (size_t i = 0; i < positions_.size(); ++i) {
    const auto [configuration, state] = positions_[i];
    for (const Step& step : steps_[state]) {
      const std::pair<int32_t, uint8_t> next{automaton.next(configuration, step.byte), step.next};
      if (next.first == Automaton::kDead) {
        if (i > 0) return Reach::some;
        ++num_dead;
      } else if (step.next == kBetween) {
        if (std::ranges::find(after, next.first) == after.end()) after.push_back(next.first);
      } else if (std::ranges::find(positions_, next) == positions_.end()) {
        positions_.push_back(next);
      }
      if (after.size() > kMaxWays || positions_.size() > kMaxWays * kNumSteps) return Reach::some;
    }
  }
  return num_dead == 0 ? Reach::all : num_dead == steps_[kBetween].size() ? Reach::none : Reach::some;
}

std::optional<size_t> PlainText::num_characters(Automaton& automaton, int32_t id, size_t max_characters) {
  std::vector<int32_t> now{id}, after;
  for (size_t count = 0; count < max_characters; ++count, std::swap(now, after)) {
    after.clear();
    const Reach reach = add_characters(automaton, now.front(), after);
    if (reach == Reach::some) return std::nullopt;
    for (size_t i = 1; i < now.size(); ++i)
      if (add_characters(automaton, now[i], after) != reach) return std::nullopt;
    if (reach == Reach::none) return count;
  }
  return std::nullopt;
}

}  // namespace pagoda::grammar

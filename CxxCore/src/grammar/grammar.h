// Grammar: a recursive transition network over bytes. Rules are small automata that may call each other; a document is
// anything that the root rule matches. Immutable once compiled, so any thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/guard.h"

namespace pagoda::grammar {

// Maximum open calls, about the nesting of the document: a model that keeps opening brackets must close them here.
inline constexpr int32_t kMaxNesting = 100;

struct ByteEdge {
  uint8_t low, high;  // inclusive
  int32_t target;
};

struct Call {
  int32_t start;   // first state of the rule
  int32_t target;  // the state after the rule ends
};

struct GrammarState {
  uint32_t first_byte_edge = 0, first_jump = 0, first_call = 0;  // each list ends where that of the next state starts
  int32_t height = 0;                                            // open calls on the shallowest path to the end
  bool is_end = false;                                           // the rule may end here
  bool begins_guard = false, ends_guard = false;                 // the guarded part begins or ends here
};

class Grammar {
 public:
  static constexpr int32_t kDead = kMaxNesting + 1;  // height of a state from which no end can be reached

  int32_t start() const noexcept { return start_; }
  int32_t num_states() const noexcept { return static_cast<int32_t>(states_.size()) - 1; }
  bool is_end(int32_t state) const noexcept { return states_[state].is_end; }
  int32_t height(int32_t state) const noexcept { return states_[state].height; }
  std::span<const ByteEdge> byte_edges(int32_t state) const noexcept {
    return list(byte_edges_, state, &GrammarState::first_byte_edge);
  }
  std::span<const int32_t> jumps(int32_t state) const noexcept {  // to other states, without reading a byte
    return list(jumps_, state, &GrammarState::first_jump);
  }
  std::span<const Call> calls(int32_t state) const noexcept { return list(calls_, state, &GrammarState::first_call); }

  // The guard state on entering `state` with guard state `guard`.
  int32_t guard_at(int32_t state, int32_t guard) const noexcept {
    const GrammarState& at = states_[static_cast<size_t>(state)];
    return at.begins_guard ? guard_.start() : at.ends_guard ? Guard::kOff : guard;
  }
  const Guard& guard() const noexcept { return guard_; }
  size_t num_bytes() const noexcept;  // of memory

  // Whether the tokens of a call's markup, such as <tool_call>, are part of documents; other added tokens never are.
  bool has_markup() const noexcept { return has_markup_; }
  void allow_markup() noexcept { has_markup_ = true; }

  // Bytes that no edge distinguishes form one class.
  int32_t num_byte_classes() const noexcept { return num_byte_classes_; }
  uint8_t byte_class(uint8_t byte) const noexcept { return byte_classes_[byte]; }

 private:
  friend class GrammarBuilder;
  template <class T>
  std::span<const T> list(const std::vector<T>& all, int32_t state, uint32_t GrammarState::* first) const noexcept {
    const auto at = static_cast<size_t>(state);
    return std::span(all).subspan(states_[at].*first, states_[at + 1].*first - states_[at].*first);
  }

  std::vector<GrammarState> states_;  // plus one, which ends the lists of the last state
  std::vector<ByteEdge> byte_edges_;
  std::vector<int32_t> jumps_;
  std::vector<Call> calls_;
  Guard guard_;
  std::array<uint8_t, 256> byte_classes_{};
  int32_t num_byte_classes_ = 1;
  int32_t start_ = 0;
  bool has_markup_ = false;
};

inline size_t Grammar::num_bytes() const noexcept {
  return states_.size() * sizeof(GrammarState) + byte_edges_.size() * sizeof(ByteEdge) +
         jumps_.size() * sizeof(int32_t) + calls_.size() * sizeof(Call) + guard_.size() * 512;
}

}  // namespace pagoda::grammar

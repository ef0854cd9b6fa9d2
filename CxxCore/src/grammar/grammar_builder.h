// GrammarBuilder: builds a Grammar state by state, within limits of size and time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grammar/compile_budget.h"
#include "grammar/grammar.h"

namespace pagoda::grammar {

struct Rule {
  int32_t start = -1, end = -1;
};

// Once a limit is reached, calls have no effect and is_ok() is false: loops over large counts must check it.
class GrammarBuilder {
 public:
  static constexpr size_t kMaxStates = 200'000;
  static constexpr size_t kMaxEdges = 1'000'000;

  explicit GrammarBuilder(CompileBudget& budget) noexcept : budget_(budget) {}

  int32_t add_state();
  Rule add_rule();
  void add_bytes(int32_t from, uint8_t low, uint8_t high, int32_t to);
  void add_jump(int32_t from, int32_t to);
  void add_call(int32_t from, Rule rule, int32_t to);

  int32_t add_byte(int32_t from, uint8_t low, uint8_t high);  // leads to a new state, which is returned
  int32_t add_literal(int32_t from, std::string_view bytes);  // the same
  int32_t add_call(int32_t from, Rule rule);                  // the same
  void add_literal(int32_t from, std::string_view bytes, int32_t to);

  // One of `words`, as a tree in which shared beginnings share states: however many there are, one thread reads them.
  void add_words(int32_t from, std::span<const std::string> words, int32_t to);

  // Between these two states the words of the guard must not occur. Guarded parts do not contain each other.
  // A grammar has one guard.
  int32_t begin_guard(int32_t from, const Guard& guard);  // returns the first state of the part
  int32_t end_guard(int32_t to);                          // returns the last state of the part

  CompileBudget& budget() noexcept { return budget_; }
  bool is_ok() const noexcept { return status_.is_ok(); }
  const Status& status() const noexcept { return status_; }

  // The grammar of `root`, which must be a rule. An error if a limit was reached or if no document exists.
  Result<Grammar> build(Rule root);

 private:
  struct Edge {
    int32_t from;
    ByteEdge bytes;
  };
  struct Jump {
    int32_t from, to;
  };
  struct CallEdge {
    int32_t from;
    Call call;
  };
  bool check_limits();
  int32_t add_guard_state(bool begins);
  void fill_lists(Grammar& grammar) const;
  void fill_byte_classes(Grammar& grammar) const;
  void fill_heights(Grammar& grammar) const;

  CompileBudget& budget_;
  Status status_;
  Guard guard_;
  std::vector<std::pair<int32_t, bool>> guard_states_;  // with: whether the part begins
  int32_t num_states_ = 0;
  std::vector<int32_t> ends_;
  std::vector<Edge> edges_;
  std::vector<Jump> jumps_;
  std::vector<CallEdge> calls_;
};

}  // namespace pagoda::grammar

// GrammarBuilder: builds a Grammar state by state, within limits of size and time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
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
  static constexpr std::chrono::milliseconds kMaxTime{500};

  int32_t add_state();
  Rule add_rule();
  void add_bytes(int32_t from, uint8_t low, uint8_t high, int32_t to);
  void add_jump(int32_t from, int32_t to);
  void add_call(int32_t from, Rule rule, int32_t to);

  int32_t add_byte(int32_t from, uint8_t low, uint8_t high);  // leads to a new state, which is returned
  int32_t add_literal(int32_t from, std::string_view bytes);  // the same
  int32_t add_call(int32_t from, Rule rule);                  // the same
  void add_literal(int32_t from, std::string_view bytes, int32_t to);

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
  void fill_lists(Grammar& grammar) const;
  void fill_byte_classes(Grammar& grammar) const;
  void fill_heights(Grammar& grammar) const;

  Status status_;
  int32_t num_states_ = 0;
  std::vector<int32_t> ends_;
  std::vector<Edge> edges_;
  std::vector<Jump> jumps_;
  std::vector<CallEdge> calls_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + kMaxTime;
};

}  // namespace pagoda::grammar

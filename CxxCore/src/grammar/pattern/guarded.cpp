// The product of a pattern and a guard, state by state. Words of guards are ASCII.
#include <algorithm>
#include <map>
#include <utility>

#include "grammar/pattern/pattern.h"

namespace pagoda::grammar {
namespace {

class Product {
 public:
  Product(const Pattern& pattern, const Guard& guard, CompileBudget& budget)
      : pattern_(pattern), guard_(guard), budget_(budget) {}

  Result<GuardedPattern> run() {
    intern(0, guard_.start());
    for (size_t i = 0; i < order_.size(); ++i) {
      if (!budget_.is_ok() || num_edges_ > kMaxPatternEdges)
        return make_error(StatusCode::invalid_argument, "is too large for the text of a tool call");
      const auto [state, guard] = order_[i];
      out_.states[i].accepts = pattern_.states[state].accepts;
      for (const CharacterEdge& edge : pattern_.states[state].edges) add(i, edge, guard);
    }
    const std::vector<int32_t> before = pattern_.distances(), after = out_.distances();
    bool is_needed = false;
    for (size_t i = 0; i < order_.size(); ++i) is_needed |= after[i] != before[order_[i].first];
    out_.remove_dead_ends();
    return GuardedPattern{std::move(out_), is_needed};
  }

 private:
  int32_t intern(size_t state, int32_t guard) {
    const auto [found, is_new] = ids_.try_emplace({state, guard}, static_cast<int32_t>(order_.size()));
    if (is_new) {
      order_.push_back(found->first);
      out_.states.emplace_back();
    }
    return found->second;
  }

  // Splits the edge where the guard's next state changes.
  void add(size_t from, const CharacterEdge& edge, int32_t guard) {
    for (char32_t first = edge.first; first <= edge.last && budget_.spend(16);) {
      char32_t last = first;
      const int32_t next = first < 0x80 ? guard_.next(guard, static_cast<uint8_t>(first)) : kOutside;
      if (first >= 0x80) last = edge.last;
      else
        while (last < edge.last && last + 1 < 0x80 && guard_.next(guard, static_cast<uint8_t>(last + 1)) == next)
          ++last;
      if (next != Guard::kDead) {
        const int32_t target = intern(static_cast<size_t>(edge.target), next);
        out_.states[from].edges.push_back({first, last, target});
        ++num_edges_;
      }
      first = last + 1;
    }
  }

  static constexpr int32_t kOutside = 0;  // the guard's state after a byte that no word contains

  const Pattern& pattern_;
  const Guard& guard_;
  CompileBudget& budget_;
  size_t num_edges_ = 0;
  std::map<std::pair<size_t, int32_t>, int32_t> ids_;
  std::vector<std::pair<size_t, int32_t>> order_;
  Pattern out_;
};

}  // namespace

Result<GuardedPattern> guarded(const Pattern& pattern, const Guard& guard, CompileBudget& budget) {
  return Product(pattern, guard, budget).run();
}

}  // namespace pagoda::grammar

// The subset construction over ranges of characters.
#include "grammar/pattern/pattern.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "grammar/characters.h"
#include "grammar/pattern/parser.h"
#include "text/unicode/unicode.h"

namespace pagoda::grammar {
namespace {

using Subset = std::vector<int32_t>;  // sorted parts

class Determiniser {
 public:
  Determiniser(const std::vector<PatternPart>& parts, CompileBudget& budget)
      : parts_(parts), budget_(budget), seen_(parts.size()) {}

  Result<Pattern> run() {
    intern(step(close({0}), kBegin));
    for (size_t i = 0; i < subsets_.size(); ++i) {
      if (subsets_.size() > kMaxPatternStates || num_subset_parts_ > kMaxSubsetParts)
        return make_error(StatusCode::invalid_argument, concat("needs more than ", kMaxPatternStates, " states"));
      if (num_edges_ > kMaxPatternEdges)
        return make_error(StatusCode::invalid_argument, concat("needs more than ", kMaxPatternEdges, " edges"));
      if (!budget_.is_ok()) return make_error(StatusCode::invalid_argument, "takes too long to compile");
      const Subset subset = *subsets_[i];
      const Subset at_end = step(subset, kEnd);
      pattern_.states[i].accepts = std::ranges::binary_search(at_end, 1);
      add_edges(i, subset);
    }
    // After a failed anchor every character continues, but none leads to an end: a copy of such a state for each
    // counted length would cost more than all others.
    pattern_.remove_dead_ends();
    return std::move(pattern_);
  }

 private:
  Subset close(Subset subset) {
    for (const int32_t part : subset) seen_[part] = true;
    for (size_t i = 0; i < subset.size(); ++i) {
      for (const int32_t next : parts_[subset[i]].jumps) {
        if (seen_[next]) continue;
        seen_[next] = true;
        subset.push_back(next);
      }
    }
    for (const int32_t part : subset) seen_[part] = false;
    budget_.spend(2 * subset.size());
    // The states that matter: those that read a character, and the end.
    std::erase_if(subset, [&](int32_t p) { return p != 1 && parts_[p].target < 0; });
    std::ranges::sort(subset);
    return subset;
  }

  Subset step(const Subset& subset, char32_t c) {
    Subset next;
    for (const int32_t index : subset) {
      const PatternPart& part = parts_[index];
      const auto span = std::ranges::lower_bound(part.characters, c, {}, &CharacterSpan::last);
      if (span != part.characters.end() && span->first <= c) next.push_back(part.target);
    }
    budget_.spend(2 * subset.size());
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    return close(std::move(next));
  }

  int32_t intern(Subset subset) {
    const auto [found, is_new] = ids_.try_emplace(std::move(subset), static_cast<int32_t>(subsets_.size()));
    if (is_new) {
      num_subset_parts_ += found->first.size();
      subsets_.push_back(&found->first);
      pattern_.states.emplace_back();
    }
    return found->second;
  }

  // Between two adjacent range ends all characters lead to the same subset.
  void add_edges(size_t from, const Subset& subset) {
    std::vector<char32_t> begins{0};
    for (const int32_t index : subset) {
      for (const CharacterSpan& span : parts_[index].characters) {
        begins.push_back(span.first);
        begins.push_back(span.last + 1);
      }
    }
    budget_.spend(8 * begins.size());
    std::ranges::sort(begins);
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    for (size_t i = 0; i < begins.size() && begins[i] <= kLastCharacter && budget_.is_ok(); ++i) {
      Subset next = step(subset, begins[i]);
      if (next.empty()) continue;
      const char32_t last =
          i + 1 < begins.size() ? std::min<char32_t>(begins[i + 1] - 1, kLastCharacter) : kLastCharacter;
      const int32_t target = intern(std::move(next));
      std::vector<CharacterEdge>& edges = pattern_.states[from].edges;
      if (!edges.empty() && edges.back().target == target && edges.back().last + 1 == begins[i])
        edges.back().last = last;
      else edges.push_back({begins[i], last, target}), ++num_edges_;
    }
  }

  const std::vector<PatternPart>& parts_;
  CompileBudget& budget_;
  size_t num_subset_parts_ = 0, num_edges_ = 0;
  std::vector<bool> seen_;
  std::map<Subset, int32_t> ids_;
  std::vector<const Subset*> subsets_;  // keys of ids_, which do not move
  Pattern pattern_;
};

}  // namespace

bool Pattern::matches(std::string_view text, CompileBudget& budget) const noexcept {
  size_t state = 0;
  for (size_t i = 0; i < text.size();) {
    const text::Character c = text::read_character(text.data() + i);
    i += c.num_bytes;
    const std::vector<CharacterEdge>& edges = states[state].edges;
    const auto edge =
        std::ranges::find_if(edges, [&](const CharacterEdge& e) { return e.first <= c.value && c.value <= e.last; });
    if (!budget.spend(1 + static_cast<size_t>(edge - edges.begin())) || edge == edges.end()) return false;
    state = static_cast<size_t>(edge->target);
  }
  return states[state].accepts;
}

std::vector<int32_t> Pattern::distances() const {
  std::vector<std::vector<size_t>> sources(states.size());
  std::vector<int32_t> distances(states.size(), -1);
  std::vector<size_t> order;  // breadth first from the ends
  for (size_t i = 0; i < states.size(); ++i) {
    for (const CharacterEdge& edge : states[i].edges) sources[edge.target].push_back(i);
    if (!states[i].accepts) continue;
    order.push_back(i);
    distances[i] = 0;
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const size_t source : sources[order[i]]) {
      if (distances[source] >= 0) continue;
      distances[source] = distances[order[i]] + 1;
      order.push_back(source);
    }
  }
  return distances;
}

void Pattern::remove_dead_ends() {
  const std::vector<int32_t> ways = distances();
  for (State& state : states) std::erase_if(state.edges, [&](const CharacterEdge& e) { return ways[e.target] < 0; });
}

Result<Pattern> compile_pattern(std::string_view pattern, CompileBudget& budget, bool is_whole) {
  PAGODA_ASSIGN_OR_RETURN(std::vector<PatternPart> parts, PatternParser(pattern, budget).parse(is_whole));
  return Determiniser(parts, budget).run();
}

}  // namespace pagoda::grammar

// Edges are collected in any order and laid out by state at the end, together with the tables that automata read.
#include "grammar/grammar_builder.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/concat.h"

namespace pagoda::grammar {
namespace {

// Lays out `edges` by their `from`; sets `first` of every state.
template <class Edge, class Out, class Take>
void lay_out(const std::vector<Edge>& edges, std::vector<GrammarState>& states, uint32_t GrammarState::* first,
             std::vector<Out>& out, Take&& take) {
  for (const Edge& edge : edges) ++(states[edge.from + 1].*first);
  for (size_t i = 1; i < states.size(); ++i) states[i].*first += states[i - 1].*first;
  std::vector<uint32_t> next(states.size());
  for (size_t i = 0; i < states.size(); ++i) next[i] = states[i].*first;
  out.resize(edges.size());
  for (const Edge& edge : edges) out[next[edge.from]++] = take(edge);
}

// Predecessors of a state, for the traversal from the ends back to the starts.
struct Incoming {
  int32_t from;
  int32_t other = -1;  // for a call: the other state that determines its height
  bool is_start = false;
};

}  // namespace

bool GrammarBuilder::check_limits() {
  if (!is_ok()) return false;
  const size_t num_edges = edges_.size() + jumps_.size() + calls_.size();
  if (static_cast<size_t>(num_states_) >= kMaxStates || num_edges >= kMaxEdges) {
    status_ = make_error(StatusCode::invalid_argument, concat("the grammar is too large: more than ", kMaxStates,
                                                              " states or ", kMaxEdges, " edges"));
  } else if (!budget_.spend(4)) {  // an edge is also sorted and laid out
    status_ = budget_.status();
  }
  return is_ok();
}

int32_t GrammarBuilder::add_state() { return check_limits() ? num_states_++ : 0; }

Rule GrammarBuilder::add_rule() {
  const Rule rule{add_state(), add_state()};
  ends_.push_back(rule.end);
  return rule;
}

void GrammarBuilder::add_bytes(int32_t from, uint8_t low, uint8_t high, int32_t to) {
  if (low <= high && check_limits()) edges_.push_back({from, {low, high, to}});
}

void GrammarBuilder::add_jump(int32_t from, int32_t to) {
  if (check_limits()) jumps_.push_back({from, to});
}

void GrammarBuilder::add_call(int32_t from, Rule rule, int32_t to) {
  if (check_limits()) calls_.push_back({from, {rule.start, to}});
}

int32_t GrammarBuilder::add_byte(int32_t from, uint8_t low, uint8_t high) {
  const int32_t to = add_state();
  add_bytes(from, low, high, to);
  return to;
}

int32_t GrammarBuilder::add_literal(int32_t from, std::string_view bytes) {
  for (const char byte : bytes) from = add_byte(from, static_cast<uint8_t>(byte), static_cast<uint8_t>(byte));
  return from;
}

void GrammarBuilder::add_literal(int32_t from, std::string_view bytes, int32_t to) {
  add_jump(add_literal(from, bytes), to);
}

void GrammarBuilder::add_words(int32_t from, std::span<const std::string> words, int32_t to) {
  std::map<std::pair<int32_t, char>, int32_t> tree;  // by state and byte
  for (const std::string& word : words) {
    int32_t at = from;
    for (size_t i = 0; i < word.size() && is_ok(); ++i) {
      const auto [found, is_new] = tree.try_emplace({at, word[i]}, -1);
      if (is_new) found->second = add_byte(at, static_cast<uint8_t>(word[i]), static_cast<uint8_t>(word[i]));
      at = found->second;
    }
    add_jump(at, to);
  }
}

int32_t GrammarBuilder::add_guard_state(bool begins) {
  const int32_t state = add_state();
  guard_states_.emplace_back(state, begins);
  return state;
}

int32_t GrammarBuilder::begin_guard(int32_t from, const Guard& guard) {
  if (guard_.size() == 0) guard_ = guard;
  const int32_t state = add_guard_state(/*begins=*/true);
  add_jump(from, state);
  return state;
}

int32_t GrammarBuilder::end_guard(int32_t to) {
  const int32_t state = add_guard_state(/*begins=*/false);
  add_jump(state, to);
  return state;
}

int32_t GrammarBuilder::add_call(int32_t from, Rule rule) {
  const int32_t to = add_state();
  add_call(from, rule, to);
  return to;
}

void GrammarBuilder::fill_lists(Grammar& grammar) const {
  grammar.states_.assign(static_cast<size_t>(num_states_) + 1, {});
  for (const int32_t end : ends_) grammar.states_[end].is_end = true;
  for (const auto& [state, begins] : guard_states_)
    (begins ? grammar.states_[state].begins_guard : grammar.states_[state].ends_guard) = true;
  lay_out(edges_, grammar.states_, &GrammarState::first_byte_edge, grammar.byte_edges_,
          [](const Edge& edge) { return edge.bytes; });
  lay_out(jumps_, grammar.states_, &GrammarState::first_jump, grammar.jumps_, [](const Jump& jump) { return jump.to; });
  lay_out(calls_, grammar.states_, &GrammarState::first_call, grammar.calls_,
          [](const CallEdge& edge) { return edge.call; });
}

void GrammarBuilder::fill_byte_classes(Grammar& grammar) const {
  std::array<bool, 257> begins{};
  for (size_t byte = 1; byte < 256; ++byte) {
    for (size_t state = 0; state < guard_.size() && !begins[byte]; ++state) {
      const auto at = static_cast<int32_t>(state);
      begins[byte] = guard_.next(at, static_cast<uint8_t>(byte)) != guard_.next(at, static_cast<uint8_t>(byte - 1));
    }
  }
  for (const Edge& edge : edges_) begins[edge.bytes.low] = begins[edge.bytes.high + size_t{1}] = true;
  uint8_t current = 0;
  for (size_t byte = 0; byte < 256; ++byte) {
    if (byte > 0 && begins[byte]) ++current;
    grammar.byte_classes_[byte] = current;
  }
  grammar.num_byte_classes_ = current + 1;
}

// Assigns heights in increasing order: an end has 0, a call one more than the rule it calls, a choice the minimum of
// its alternatives.
void GrammarBuilder::fill_heights(Grammar& grammar) const {
  std::vector<std::pair<int32_t, Incoming>> all;  // by target
  for (const Edge& edge : edges_) all.push_back({edge.bytes.target, {edge.from}});
  for (const Jump& jump : jumps_) all.push_back({jump.to, {jump.from}});
  for (const CallEdge& edge : calls_) {
    all.push_back({edge.call.start, {edge.from, edge.call.target, /*is_start=*/true}});
    all.push_back({edge.call.target, {edge.from, edge.call.start, /*is_start=*/false}});
  }
  std::ranges::sort(all, {}, [](const auto& entry) { return entry.first; });
  for (GrammarState& state : grammar.states_) state.height = Grammar::kDead;
  std::vector<std::vector<int32_t>> waiting(Grammar::kDead);
  waiting[0] = ends_;
  const auto height = [&](int32_t state) { return grammar.height(state); };
  for (int32_t level = 0; level < Grammar::kDead; ++level) {
    for (size_t i = 0; i < waiting[level].size(); ++i) {
      const int32_t state = waiting[level][i];
      if (height(state) <= level) continue;
      grammar.states_[state].height = level;
      const auto range = std::ranges::equal_range(all, state, {}, [](const auto& entry) { return entry.first; });
      for (const auto& [target, in] : range) {
        int32_t needed = in.is_start ? level + 1 : level;
        if (in.other >= 0) needed = std::max(needed, height(in.other) + (in.is_start ? 0 : 1));
        if (needed < std::min(height(in.from), Grammar::kDead)) waiting[needed].push_back(in.from);
      }
    }
  }
}

Result<Grammar> GrammarBuilder::build(Rule root) {
  if (!is_ok()) return status_;
  Grammar grammar;
  grammar.start_ = root.start;
  grammar.guard_ = guard_;
  fill_lists(grammar);
  fill_byte_classes(grammar);
  fill_heights(grammar);
  if (grammar.height(root.start) >= Grammar::kDead)
    return make_error(StatusCode::invalid_argument,
                      concat("no document satisfies the grammar within ", kMaxNesting, " levels of nesting"));
  return grammar;
}

}  // namespace pagoda::grammar

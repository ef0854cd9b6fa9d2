// Strings of a schema: as JSON, or raw in the parameters of a call. Lengths, patterns and formats.
#include <algorithm>
#include <limits>

#include "base/quoted.h"
#include "grammar/characters.h"
#include "grammar/parameter_text.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/keywords.h"

namespace pagoda::grammar {

using io::Json;

// Counting needs a copy of the pattern's states for each character; longer strings are excluded.
constexpr int64_t kMaxCountedStates = 8192;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int64_t kCountBase = 64;

Rule SchemaCompiler::any_string() {
  if (any_string_.start >= 0) return any_string_;
  any_string_ = builder_.add_rule();
  const int32_t open = builder_.add_byte(any_string_.start, '"', '"');
  add_any_character(builder_, open, open);
  builder_.add_bytes(open, '"', '"', any_string_.end);
  return any_string_;
}

Rule SchemaCompiler::any_text() {
  if (any_text_.start < 0) any_text_ = add_any_text(builder_);
  return any_text_;
}

Rule SchemaCompiler::any_character(bool is_raw) {
  Rule& rule = any_characters_[is_raw];
  if (rule.start >= 0) return rule;
  rule = builder_.add_rule();
  if (is_raw) add_text_characters(builder_, rule.start, 0, kLastCharacter, rule.end);
  else add_any_character(builder_, rule.start, rule.end);
  return rule;
}

Rule SchemaCompiler::characters(char32_t first, char32_t last, bool is_raw) {
  const auto [found, is_new] = characters_.try_emplace({first, last, is_raw});
  if (is_new) {
    found->second = builder_.add_rule();
    const auto [start, end] = found->second;
    if (is_raw) add_text_characters(builder_, start, first, last, end);
    else add_characters(builder_, start, first, last, end);
  }
  return found->second;
}

const Pattern* SchemaCompiler::pattern_of(std::string_view expression, const char* keyword, const std::string& path) {
  const auto found = patterns_.find(expression);
  if (found != patterns_.end()) return &found->second;
  Result<Pattern> compiled = compile_pattern(expression, budget());
  if (!compiled.is_ok()) return fail(path, std::string("'") + keyword + "' " + compiled.status.message), nullptr;
  return &patterns_.emplace(expression, std::move(*compiled)).first->second;
}

// A pattern outweighs a format, which only describes it then; a format without a pattern of its own is an annotation.
void SchemaCompiler::add_string(const Json& schema, const Slot& slot) {
  int64_t least, most;
  if (!read_count(schema, "minLength", slot.path, 0, least) ||
      !read_count(schema, "maxLength", slot.path, kNoLimit, most))
    return;
  const Json* pattern = schema.find("pattern");
  const Json* format = schema.find("format");
  for (const auto& [value, key] : {std::pair(pattern, "pattern"), {format, "format"}})
    if (value && !value->is_string()) return fail(slot.path, std::string("'") + key + "' is a string");
  const std::string_view known = format ? format_pattern(format->as_string()) : std::string_view();
  if (pattern || !known.empty()) {
    const Pattern* compiled =
        pattern ? pattern_of(pattern->as_string(), "pattern", slot.path) : pattern_of(known, "format", slot.path);
    return compiled ? add_pattern(*compiled, least, most, slot) : void();
  }
  if (least == 0 && most == kNoLimit)
    return builder_.add_call(slot.from, slot.raw ? any_text() : any_string(), slot.to);
  add_counted_string(least, most, slot);
}

void SchemaCompiler::add_counted_string(int64_t least, int64_t most, const Slot& slot) {
  const bool is_raw = slot.raw;
  const Rule character = any_character(is_raw);
  int32_t at = is_raw ? builder_.add_state() : builder_.add_byte(slot.from, '"', '"');
  if (is_raw) builder_.add_jump(slot.from, at);
  for (int64_t count = 0; count < least && is_ok(); ++count) at = builder_.add_call(at, character);
  const int32_t end = builder_.add_state();
  if (is_raw) builder_.add_jump(end, slot.to);
  else builder_.add_bytes(end, '"', '"', slot.to);
  if (most < least) return;  // no string
  if (most != kNoLimit) return add_up_to(at, most - least, is_raw, end);
  const int32_t loop = builder_.add_state();
  builder_.add_jump(at, loop);
  builder_.add_call(loop, character, loop);
  builder_.add_jump(loop, end);
}

// Up to `count` characters: whole blocks of 64, 4096 and so on characters, then fewer than a block. A few hundred
// states count any length.
void SchemaCompiler::add_up_to(int32_t from, int64_t count, bool is_raw, int32_t to) {
  int64_t block = 1;
  int level = 0;
  while (count / block >= kCountBase) block *= kCountBase, ++level;
  for (int64_t i = 0; i < count / block && is_ok(); ++i) {
    builder_.add_call(from, fewer_characters(level, is_raw), to);
    from = builder_.add_call(from, block_of_characters(level, is_raw));
  }
  if (level == 0) builder_.add_jump(from, to);
  else add_up_to(from, count % block, is_raw, to);
}

Rule SchemaCompiler::block_of_characters(int level, bool is_raw) {
  if (level == 0) return any_character(is_raw);
  const auto [found, is_new] = blocks_.try_emplace({level, is_raw, /*is_whole=*/true});
  if (!is_new) return found->second;
  const Rule rule = builder_.add_rule();
  int32_t at = rule.start;
  for (int64_t i = 0; i < kCountBase; ++i) at = builder_.add_call(at, block_of_characters(level - 1, is_raw));
  builder_.add_jump(at, rule.end);
  return blocks_[{level, is_raw, true}] = rule;
}

// Fewer characters than a block of this level.
Rule SchemaCompiler::fewer_characters(int level, bool is_raw) {
  const auto [found, is_new] = blocks_.try_emplace({level, is_raw, /*is_whole=*/false});
  if (!is_new) return found->second;
  const Rule rule = builder_.add_rule();
  if (level == 0) {
    builder_.add_jump(rule.start, rule.end);
  } else {
    int32_t at = rule.start;
    for (int64_t i = 0; i < kCountBase; ++i) {
      builder_.add_call(at, fewer_characters(level - 1, is_raw), rule.end);
      if (i + 1 < kCountBase) at = builder_.add_call(at, block_of_characters(level - 1, is_raw));
    }
  }
  return blocks_[{level, is_raw, false}] = rule;
}

// In parameters of calls, the strings of the pattern in which no tag occurs. Where the guard alone would lead to a
// string without an end, raw text uses the product of pattern and guard, and JSON an escape instead of '<'.
void SchemaCompiler::add_pattern(const Pattern& pattern, int64_t least, int64_t most, const Slot& slot) {
  if (!is_in_parameters_) return add_counted_pattern(pattern, least, most, /*escapes_less=*/false, slot);
  const Result<GuardedPattern> held = guarded(pattern, parameter_guard(), budget());
  if (!held.is_ok()) return fail(slot.path, "'pattern' " + held.status.message);
  if (slot.raw && held->is_needed) return add_counted_pattern(held->pattern, least, most, false, slot);
  add_counted_pattern(pattern, least, most, held->is_needed, slot);
}

void SchemaCompiler::add_character_edge(int32_t from, const CharacterEdge& edge, bool is_raw, int32_t to) {
  if (edge.first > edge.last) return;
  if (edge.last >= 0x80) return builder_.add_call(from, characters(edge.first, edge.last, is_raw), to);
  if (is_raw) add_text_characters(builder_, from, edge.first, edge.last, to);
  else add_characters(builder_, from, edge.first, edge.last, to);
}

// States of the pattern times characters so far, as far as these are counted.
void SchemaCompiler::add_counted_pattern(const Pattern& pattern, int64_t least, int64_t most, bool escapes_less,
                                         const Slot& slot) {
  const bool is_raw = slot.raw;
  const int64_t longest = std::max<int64_t>(64, kMaxCountedStates / static_cast<int64_t>(pattern.states.size()));
  if (most != kNoLimit) most = std::min(most, std::max(least, longest));
  const int64_t counted = most == kNoLimit ? least : most;
  std::map<std::pair<int32_t, int64_t>, int32_t> states;
  std::vector<std::pair<int32_t, int64_t>> order;
  const auto state_of = [&](int32_t state, int64_t count) {
    const auto [found, is_new] = states.try_emplace({state, count}, -1);
    if (is_new) {
      found->second = builder_.add_state();
      order.push_back(found->first);
    }
    return found->second;
  };
  if (is_raw) builder_.add_jump(slot.from, state_of(0, 0));
  else builder_.add_literal(slot.from, "\"", state_of(0, 0));
  for (size_t i = 0; i < order.size() && is_ok(); ++i) {
    const auto [state, count] = order[i];
    const int32_t from = state_of(state, count);
    const Pattern::State& part = pattern.states[state];
    if (part.accepts && count >= least && is_raw) builder_.add_jump(from, slot.to);
    else if (part.accepts && count >= least) builder_.add_bytes(from, '"', '"', slot.to);
    if (count >= most) continue;
    for (const CharacterEdge& edge : part.edges) {
      const int32_t to = state_of(edge.target, std::min(count + 1, counted));
      const bool has_less = escapes_less && edge.first <= '<' && '<' <= edge.last;
      if (!has_less) {
        add_character_edge(from, edge, is_raw, to);
        continue;
      }
      builder_.add_literal(from, "\\u003c", to);
      add_character_edge(from, {edge.first, '<' - 1, edge.target}, is_raw, to);
      add_character_edge(from, {'<' + 1, edge.last, edge.target}, is_raw, to);
    }
  }
}

}  // namespace pagoda::grammar

// A parser that builds states while it reads; a part that is repeated is read again for each copy.
#include "grammar/gbnf.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/concat.h"
#include "base/quoted.h"
#include "grammar/characters.h"
#include "grammar/grammar_builder.h"
#include "grammar/pattern/parser.h"
#include "text/unicode/unicode.h"

namespace pagoda::grammar {
namespace {

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

class GbnfCompiler {
 public:
  GbnfCompiler(std::string_view text, CompileBudget& budget) : text_(text), budget_(budget), builder_(budget) {}

  Result<Grammar> compile() {
    if (const size_t bad = text::find_invalid_utf8(text_); bad != std::string_view::npos) {
      at_ = bad;
      fail("is not valid UTF-8");
      return status_;
    }
    for (skip_space(); status_.is_ok() && at_ < text_.size() && builder_.is_ok(); skip_space()) parse_rule();
    if (status_.is_ok() && builder_.is_ok()) check_rules();
    if (!budget_.is_ok()) return budget_.status();
    if (!builder_.is_ok()) return builder_.status();
    if (!status_.is_ok()) return status_;
    return builder_.build(rules_.at("root").rule);
  }

 private:
  struct NamedRule {
    Rule rule;
    bool is_defined = false;
  };
  struct Step {  // a transition that reads no byte: a jump, or a call of a rule
    int32_t to;
    std::string callee{};  // empty for a jump
  };

  bool fail(const std::string& reason) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at_), '\n');
    if (status_.is_ok())
      status_ = make_error(StatusCode::invalid_argument, concat("the grammar, line ", line, ": ", reason));
    return false;
  }

  bool has_more() const noexcept { return at_ < text_.size(); }
  char peek() const noexcept { return has_more() ? text_[at_] : '\0'; }
  bool take(std::string_view word) noexcept {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // Spends the budget: the space inside of a part that is repeated is skipped for each copy.
  void skip_space() noexcept {
    const size_t begin = at_;
    for (; has_more(); ++at_) {
      if (peek() == '#') at_ = std::min(text_.size(), text_.find('\n', at_));
      if (!has_more() || (peek() != ' ' && peek() != '\t' && peek() != '\n' && peek() != '\r')) break;
    }
    budget_.spend(at_ - begin);
  }

  std::string read_name() {
    const size_t begin = at_;
    while (is_name_character(peek()) && (at_ > begin || peek() != '.')) ++at_;
    budget_.spend(at_ - begin);
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Whether a rule starts here, which ends the previous one.
  bool is_at_rule() {
    const size_t begin = at_;
    const bool has_name = !read_name().empty();
    skip_space();
    const bool is_rule = has_name && text_.substr(at_).starts_with("::=");
    at_ = begin;
    return is_rule;
  }

  NamedRule& rule_of(const std::string& name) {
    const auto [found, is_new] = rules_.try_emplace(name);
    if (is_new) found->second.rule = builder_.add_rule();
    return found->second;
  }

  void jump(int32_t from, int32_t to) {
    builder_.add_jump(from, to);
    steps_[from].push_back({to});
  }

  void parse_rule() {
    const std::string name = read_name();
    skip_space();
    if (name.empty() || !take("::=")) return void(fail("a rule must begin with a name and ::="));
    NamedRule& rule = rule_of(name);
    if (rule.is_defined) return void(fail("rule " + io::quoted(name) + " is defined twice"));
    if (rules_.size() > kMaxGbnfRules) return void(fail("too many rules"));
    rule.is_defined = true;
    const Rule states = rule.rule;
    parse_choice(states.start, states.end, 0);
    skip_space();
    if (status_.is_ok() && builder_.is_ok() && has_more() && !is_at_rule())
      fail("unexpected " + io::quoted(text_.substr(at_, 12)));
  }

  bool parse_choice(int32_t from, int32_t to, int depth) {
    if (depth > kMaxGbnfDepth) return fail("parentheses are nested too deeply");
    do {
      int32_t at = from;
      if (!parse_sequence(at, depth)) return false;
      jump(at, to);
      skip_space();
    } while (take("|"));
    return true;
  }

  bool parse_sequence(int32_t& at, int depth) {
    for (skip_space(); has_more() && peek() != '|' && peek() != ')' && !is_at_rule(); skip_space()) {
      if (!parse_repeated(at, depth)) return false;
    }
    return budget_.is_ok();
  }

  bool parse_repeated(int32_t& at, int depth) {
    const size_t begin = at_;
    const int32_t before = builder_.add_state();  // a state of its own: a loop must not be entered from elsewhere
    jump(at, before);
    at = before;
    if (!parse_atom(at, depth)) return false;
    int64_t least = 1, most = 1;  // most -1: no limit
    if (!parse_counts(least, most)) return false;
    if (least == 1 && most == 1) return true;
    const size_t end = at_;
    const auto copy = [&] {
      at_ = begin;
      return parse_atom(at, depth);
    };
    if (least == 0 && most < 0) {
      jump(at, before);
      at = before;
    } else if (least == 0 && most == 0) {
      at = before;
    } else {
      const int32_t behind = builder_.add_state();
      if (least == 0) jump(before, behind);
      for (int64_t count = 1; count < std::max(least, most) && builder_.is_ok(); ++count) {
        if (count >= least) jump(at, behind);
        if (!copy()) return false;
      }
      if (most < 0) {
        const int32_t loop = builder_.add_state();
        jump(at, loop);
        at = loop;
        if (!copy()) return false;
        jump(at, loop);
        jump(loop, behind);
      } else {
        jump(at, behind);
      }
      at = behind;
    }
    at_ = end;
    return builder_.is_ok();
  }

  bool parse_counts(int64_t& least, int64_t& most) {
    if (take("*")) return least = 0, most = -1, true;
    if (take("+")) return least = 1, most = -1, true;
    if (take("?")) return least = 0, most = 1, true;
    if (!take("{")) return true;
    const auto read_number = [&](int64_t otherwise) {
      skip_space();
      if (peek() < '0' || peek() > '9') return otherwise;
      int64_t value = 0;
      for (; peek() >= '0' && peek() <= '9'; ++at_) value = std::min<int64_t>(value * 10 + (peek() - '0'), INT32_MAX);
      skip_space();
      return value;
    };
    least = read_number(0);
    most = take(",") ? read_number(-1) : least;
    if (!take("}")) return fail("a repetition must be {n}, {n,} or {n,m}");
    if (least > kMaxGbnfCopies || most > kMaxGbnfCopies)
      return fail(concat("a repetition of more than ", kMaxGbnfCopies));
    return most < 0 || most >= least || fail("a repetition whose most is below its least");
  }

  bool parse_atom(int32_t& at, int depth) {
    if (take("(")) {
      const int32_t to = builder_.add_state();
      if (!parse_choice(at, to, depth + 1)) return false;
      at = to;
      return take(")") || fail("a ')' is missing");
    }
    if (take("\"")) return parse_literal(at);
    const int32_t from = at;
    if (take("[")) {
      at = builder_.add_state();
      return parse_set(from, at);
    }
    if (take(".")) {
      at = builder_.add_state();
      add_text_characters(builder_, from, 0, kLastCharacter, at);
      return true;
    }
    const std::string name = read_name();
    if (name.empty()) return fail("unexpected " + io::quoted(text_.substr(at_, 12)));
    at = builder_.add_state();
    builder_.add_call(from, rule_of(name).rule, at);
    steps_[from].push_back({at, name});
    return true;
  }

  bool parse_literal(int32_t& at) {
    while (peek() != '"') {
      char32_t c;
      if (!read_character(c)) return false;
      std::string bytes;
      text::append_utf8(c, bytes);
      at = builder_.add_literal(at, bytes);
    }
    ++at_;
    return true;
  }

  bool parse_set(int32_t from, int32_t to) {
    const bool is_negative = take("^");
    CharacterSet set;
    while (peek() != ']') {
      char32_t first;
      if (!read_character(first)) return false;
      char32_t last = first;
      if (peek() == '-' && text_.substr(at_ + 1, 1) != "]") {
        ++at_;
        if (!read_character(last)) return false;
        if (last < first) return fail("a range of characters whose last is before its first");
      }
      set.push_back({first, last});
    }
    ++at_;
    budget_.spend(4 * set.size());
    set = is_negative ? complement(set) : normalise(set);
    for (const CharacterSpan& span : set) add_text_characters(builder_, from, span.first, span.last, to);
    return true;
  }

  // Reads one character of a literal or a set.
  bool read_character(char32_t& c) {
    if (!has_more()) return fail("a '\"' or ']' is missing at the end");
    if (!take("\\")) {
      const text::Character character = text::read_character(text_.data() + at_);
      at_ += character.num_bytes;
      c = character.value;
      return true;
    }
    static constexpr std::string_view kEscapes = "nrt\\\"[]-^/'", kMeanings = "\n\r\t\\\"[]-^/'";
    if (const size_t found = has_more() ? kEscapes.find(peek()) : std::string_view::npos;
        found != std::string_view::npos) {
      ++at_;
      c = static_cast<unsigned char>(kMeanings[found]);
      return true;
    }
    for (const auto& [letter, num_digits] : {std::pair{'x', 2}, {'u', 4}, {'U', 8}}) {
      if (peek() != letter) continue;
      ++at_;
      c = 0;
      for (int i = 0; i < num_digits; ++i, ++at_) {
        const size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(peek() | 0x20));
        if (!has_more() || digit == std::string_view::npos) return fail("an escape with too few hexadecimal digits");
        c = c * 16 + static_cast<char32_t>(digit);
      }
      const bool is_character = c <= kLastCharacter && (c < 0xD800 || c > 0xDFFF);
      return is_character || fail("an escape that is no character");
    }
    return fail("an escape that is not understood");
  }

  // Finds left recursion: a rule that reaches itself before reading a byte would recurse forever.
  void check_rules() {
    at_ = text_.size();
    if (!rules_.contains("root")) return void(fail("there is no rule 'root'"));
    for (const auto& [name, rule] : rules_) {
      if (!rule.is_defined) return void(fail("rule " + io::quoted(name) + " is missing"));
    }
    std::map<std::string, bool> may_be_empty;
    for (bool has_changed = true; has_changed && budget_.is_ok();) {
      has_changed = false;
      for (const auto& [name, rule] : rules_) {
        if (may_be_empty[name] || !reaches(rule.rule, may_be_empty, nullptr)) continue;
        may_be_empty[name] = has_changed = true;
      }
    }
    std::map<std::string, std::vector<std::string>> leads;
    for (const auto& [name, rule] : rules_) reaches(rule.rule, may_be_empty, &leads[name]);
    std::map<std::string, int> marks;  // 1: on the current path, 2: done
    for (const auto& [name, rule] : rules_) find_cycle(name, leads, marks);
  }

  // Whether the end of the rule can be reached without reading a byte; fills in the rules called on the way.
  bool reaches(Rule rule, std::map<std::string, bool>& may_be_empty, std::vector<std::string>* leads) {
    std::vector<int32_t> way{rule.start};
    std::map<int32_t, bool> is_seen{{rule.start, true}};
    for (size_t i = 0; i < way.size() && budget_.spend(20); ++i) {
      for (const Step& step : steps_[way[i]]) {
        budget_.spend(20);
        if (!step.callee.empty() && leads) leads->push_back(step.callee);
        if (!step.callee.empty() && !may_be_empty[step.callee]) continue;
        if (is_seen.try_emplace(step.to, true).second) way.push_back(step.to);
      }
    }
    return is_seen.contains(rule.end);
  }

  void find_cycle(const std::string& first, const std::map<std::string, std::vector<std::string>>& leads,
                  std::map<std::string, int>& marks) {
    std::vector<std::pair<std::string, size_t>> way{{first, 0}};  // rule, next of its leads
    while (!way.empty() && status_.is_ok() && budget_.spend(40)) {
      auto& [name, next] = way.back();
      const std::vector<std::string>& callees = leads.at(name);
      if (marks[name] == 2 || next == callees.size()) {
        marks[name] = 2;
        way.pop_back();
        continue;
      }
      marks[name] = 1;
      const std::string& callee = callees[next++];
      if (marks[callee] == 1) return void(fail("rule " + io::quoted(callee) + " begins with itself"));
      if (marks[callee] == 0) way.push_back({callee, 0});
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  Status status_;
  CompileBudget& budget_;
  GrammarBuilder builder_;
  std::map<std::string, NamedRule> rules_;
  std::map<int32_t, std::vector<Step>> steps_;  // by the state they leave
};

}  // namespace

Result<Grammar> compile_gbnf(std::string_view text, CompileBudget& budget) {
  return GbnfCompiler(text, budget).compile();
}

}  // namespace pagoda::grammar

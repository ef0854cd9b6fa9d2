// SchemaCompiler: compiles a JSON schema to the grammar of documents that satisfy it.
// The grammar accepts a subset of them: declared properties in declared order and then others; no undeclared properties
// unless additionalProperties allows them; numbers of at most 15 digits; strings with a pattern without needless
// escapes, and of at most some thousand characters if their length is limited too; unique items in the order of their
// enum. White space is bounded: none, one space, or a newline with indentation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "grammar/grammar_builder.h"
#include "grammar/pattern/pattern.h"

namespace pagoda::text {
struct ParameterKind;
}

namespace pagoda::grammar {

class MergedSchema;

inline constexpr int kMaxSchemaDepth = 48;  // nesting of schemas

class SchemaCompiler {
 public:
  // Several may share a builder, each with its own references.
  SchemaCompiler(const io::Json& root, GrammarBuilder& builder) : root_(root), builder_(builder) {}

  static Result<Grammar> compile(const io::Json& root, CompileBudget& budget);  // documents that satisfy the schema
  static Result<Grammar> compile_any_object(CompileBudget& budget);             // documents that are some object

  Result<Rule> compile_value();       // values that satisfy the schema
  Result<Rule> compile_parameters();  // the members of such an object, each as <parameter=NAME>\nvalue\n</parameter>\n

 private:
  // The states between which a value is inserted, and the name of its schema in messages.
  struct Slot {
    int32_t from, to;
    std::string path;  // JSON pointer of the schema
    int depth;
    const text::ParameterKind* raw = nullptr;  // set: the value is the text of a parameter, of this kind
    bool is_alternative = false;               // one of several: that no value satisfies it is no error
  };
  struct NamedRule {
    Rule rule;
    const io::Json* schema;
    std::string path;
    std::vector<size_t> leads;  // rules it may start with, before any byte
  };

  void fail(const std::string& path, const std::string& reason);
  bool is_ok() const noexcept { return status_.is_ok() && builder_.is_ok(); }
  CompileBudget& budget() noexcept { return builder_.budget(); }
  static std::string longer_path(const std::string& path, std::string_view step);
  Slot inside(const Slot& slot, const std::string& step, int32_t from, int32_t to) const;
  static Result<Grammar> finish(Rule value, GrammarBuilder& builder);
  Status check_rules();
  void compile_rules();
  void check_leads();

  // Parts shared by all schemas, built when first needed.
  Rule whitespace();
  Rule any_value();
  Rule any_string();
  Rule any_text();
  Rule any_character(bool is_raw);
  Rule characters(char32_t first, char32_t last, bool is_raw);
  Rule block_of_characters(int level, bool is_raw);  // 64 to the power of `level`
  Rule fewer_characters(int level, bool is_raw);
  int32_t add_whitespace(int32_t from) { return builder_.add_call(from, whitespace()); }
  int32_t add_colon(int32_t from);
  void add_any_object(int32_t from, int32_t to);
  void add_any_array(int32_t from, int32_t to);
  size_t rule_of(const io::Json& schema, const std::string& path);
  void call_rule(const Slot& slot, size_t rule);

  void add_value(const io::Json& schema, const Slot& slot);
  bool check_keywords(const io::Json& schema, const std::string& path);
  bool add_reference(const io::Json& schema, const Slot& slot);     // $ref or allOf; true if there was one
  bool add_alternatives(const io::Json& schema, const Slot& slot);  // anyOf or oneOf; the same
  bool add_listed_values(const io::Json& schema, const Slot& slot);
  void add_raw_spelling(const io::Json& value, const Slot& slot, std::set<std::string>& spellings);
  void add_type(std::string_view type, const io::Json& schema, const Slot& slot);
  std::string spelled(const io::Json& value) const;
  bool is_listed(const io::Json& value, std::span<const io::Json> list);

  // Whether a listed value satisfies a schema. False also after an error, and when the budget ends.
  bool allows(const io::Json& schema, const io::Json& value, const std::string& path, int depth);
  // The same for a value of the schema's own enum or const.
  bool allows_listed(const io::Json& schema, const io::Json& value, const std::string& path, int depth);
  bool allows_parts(const io::Json& schema, const io::Json& value, const std::string& path, int depth);
  bool allows_string(const io::Json& schema, const std::string& value, const std::string& path);
  bool allows_number(const io::Json& schema, double value, const std::string& path);
  bool allows_items(const io::Json& schema, const io::Json& value, const std::string& path, int depth);
  bool allows_members(const io::Json& schema, const io::Json& value, const std::string& path, int depth);

  const io::Json* resolve(const std::string& reference, const std::string& path);
  bool collect(const io::Json& schema, std::string_view except, bool is_outer, MergedSchema& into,
               const std::string& path, int depth);
  // `schema` without the keyword `except`, together with all it refers to and with `part`; null after an error.
  const io::Json* combine(const io::Json& schema, std::string_view except, const io::Json* part,
                          const std::string& path, int depth);
  const io::Json* keep(io::Json json) { return &kept_.emplace_back(std::move(json)); }

  void add_object(const io::Json& schema, const Slot& slot);
  struct Property {
    std::string name;
    const io::Json* schema;
    bool is_required;
  };
  std::vector<Property> properties_of(const io::Json& schema, const std::string& path);
  struct OtherKeys {
    const io::Json* value = nullptr;  // schema of undeclared members; null if there are none
    const io::Json* key = nullptr;    // schema of their names; null if any undeclared name is allowed
    std::string keyword;              // the keyword that requires it
  };
  OtherKeys other_keys(const io::Json& schema, const std::vector<Property>& properties, const std::string& path);
  void add_unique_items(const io::Json& items, int64_t least, int64_t most, const Slot& slot);
  void add_multiples(const io::Json& schema, const io::Json& factor, const Slot& slot);
  void add_other_key(int32_t from, const std::vector<Property>& declared, int32_t to);
  void add_array(const io::Json& schema, const Slot& slot);
  void add_string(const io::Json& schema, const Slot& slot);
  void add_counted_string(int64_t least, int64_t most, const Slot& slot);
  void add_up_to(int32_t from, int64_t count, bool is_raw, int32_t to);
  const Pattern* pattern_of(std::string_view expression, const char* keyword, const std::string& path);
  void add_pattern(const Pattern& pattern, int64_t least, int64_t most, const Slot& slot);
  void add_counted_pattern(const Pattern& pattern, int64_t least, int64_t most, bool escapes_less, const Slot& slot);
  void add_character_edge(int32_t from, const CharacterEdge& edge, bool is_raw, int32_t to);
  void add_number(const io::Json& schema, bool is_integer, const Slot& slot);
  void add_parameter(const Property& property, int32_t from, int32_t to);
  bool read_count(const io::Json& schema, const char* key, const std::string& path, int64_t otherwise, int64_t& count);

  const io::Json& root_;
  GrammarBuilder& builder_;
  Status status_;
  std::deque<io::Json> kept_;  // schemas created by merging; their addresses are stable
  std::deque<NamedRule> rules_;
  std::unordered_map<const io::Json*, size_t> rule_ids_;
  std::ptrdiff_t leading_rule_ = -1;  // the rule whose first byte has not been read yet, or -1
  bool is_in_parameters_ = false;     // values are the text of parameters, which a guard limits
  Rule whitespace_, any_value_, any_string_, any_text_, any_characters_[2];
  std::map<std::tuple<char32_t, char32_t, bool>, Rule> characters_;  // by range and whether they are raw
  std::map<std::tuple<int, bool, bool>, Rule> blocks_;               // by level, raw, whole
  std::map<std::string, Pattern, std::less<>> patterns_;             // by expression
};

}  // namespace pagoda::grammar

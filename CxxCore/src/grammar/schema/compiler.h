// SchemaCompiler: compiles a JSON schema to the grammar of documents that satisfy it.
// The grammar accepts a subset of them: declared properties in declared order and then others; no undeclared properties
// unless additionalProperties allows them; numbers of at most 15 digits; strings with a pattern without needless
// escapes, and of at most a few thousand characters if their length is limited; unique items in the order of their
// enum. White space is bounded: none, one space, or a newline with indentation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "grammar/grammar_builder.h"
#include "grammar/pattern/pattern.h"

namespace pagoda::grammar {

inline constexpr int kMaxSchemaDepth = 48;  // nesting of schemas

class SchemaCompiler {
 public:
  // Several may share a builder, each with its own references.
  SchemaCompiler(const io::Json& root, GrammarBuilder& builder) : root_(root), builder_(builder) {}

  static Result<Grammar> compile(const io::Json& root);  // documents that satisfy the schema
  static Result<Grammar> compile_any_object();           // documents that are some object

  Result<Rule> compile_value();       // values that satisfy the schema
  Result<Rule> compile_parameters();  // the members of such an object, each as <parameter=NAME>\nvalue\n</parameter>\n

 private:
  // The states between which a value is inserted, and the name of its schema in messages.
  struct Slot {
    int32_t from, to;
    std::string path;  // JSON pointer of the schema
    int depth;
  };
  struct NamedRule {
    Rule rule;
    const io::Json* schema;
    std::string path;
    std::vector<size_t> leads;  // rules it may start with, before any byte
  };

  void fail(const std::string& path, const std::string& reason);
  bool is_ok() const noexcept { return status_.is_ok() && builder_.is_ok(); }
  Slot inside(const Slot& slot, const std::string& step, int32_t from, int32_t to) const;
  static Result<Grammar> finish(Rule value, GrammarBuilder& builder);
  Status check_rules();
  void compile_rules();
  void check_leads();

  // Parts shared by all schemas, built when first needed.
  Rule whitespace();
  Rule any_value();
  Rule any_string();
  Rule any_character();
  Rule characters(char32_t first, char32_t last);
  int32_t add_whitespace(int32_t from) { return builder_.add_call(from, whitespace()); }
  int32_t add_colon(int32_t from);
  void add_any_object(int32_t from, int32_t to);
  void add_any_array(int32_t from, int32_t to);
  size_t rule_of(const io::Json& schema, const std::string& path);
  void call_rule(const Slot& slot, size_t rule);

  void add_value(const io::Json& schema, const Slot& slot);
  bool check_keywords(const io::Json& schema, const std::string& path);
  bool add_reference(const io::Json& schema, const Slot& slot);    // true if there was one
  bool add_combination(const io::Json& schema, const Slot& slot);  // the same
  bool add_listed_values(const io::Json& schema, const Slot& slot);
  void add_type(std::string_view type, const io::Json& schema, const Slot& slot);
  const io::Json* resolve(const std::string& reference, const std::string& path);
  const io::Json* merge(const io::Json& a, const io::Json& b, const std::string& path);
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
  void add_pattern(const Pattern& pattern, int64_t least, int64_t most, bool is_raw, const Slot& slot);
  void add_number(const io::Json& schema, bool is_integer, const Slot& slot);
  void add_parameter(const io::Json& schema, const Slot& slot);
  void add_raw_string(const io::Json& schema, const Slot& slot, int32_t behind_tag);
  bool read_count(const io::Json& schema, const char* key, const std::string& path, int64_t otherwise, int64_t& count);

  const io::Json& root_;
  GrammarBuilder& builder_;
  Status status_;
  std::deque<io::Json> kept_;  // schemas created by merging; their addresses are stable
  std::deque<NamedRule> rules_;
  std::unordered_map<const io::Json*, size_t> rule_ids_;
  std::ptrdiff_t leading_rule_ = -1;  // the rule whose first byte has not been read yet, or -1
  Rule whitespace_, any_value_, any_string_, any_character_;
  std::map<std::pair<char32_t, char32_t>, Rule> characters_;
  size_t num_merges_ = 0;
};

}  // namespace pagoda::grammar

// MergedSchema: the keywords of several schemas that apply together, collected in one place. Schemas of members and
// items are kept as pointers until the end, so that merging a thousand schemas costs the size of their text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "grammar/compile_budget.h"

namespace pagoda::grammar {

class MergedSchema {
 public:
  explicit MergedSchema(CompileBudget& budget) : budget_(budget) {}

  // Adds the enforced keywords of an object schema, which must outlive this; not $ref, allOf and `except`. `nullable`
  // stays a keyword if `is_outer`: null satisfies the result then. Otherwise null satisfies this schema only.
  // Returns the keyword whose two values cannot be combined, or an empty text.
  std::string_view add(const io::Json& schema, std::string_view except, bool is_outer);
  void add_never() noexcept { is_never_ = true; }  // the schema `false`

  // The schema that all of them together are. Null, and the budget is not ok, if it is too large.
  io::Json take();

 private:
  struct Member {
    std::string name;
    std::vector<std::pair<size_t, const io::Json*>> schemas;  // with the index of the schema that declares it
  };
  struct Additional {
    size_t index;  // of its schema
    const io::Json* schema;
  };
  bool add_keyword(const std::string& key, io::Json value);
  void add_members(const io::Json& properties);
  void add_required(const io::Json& names);
  bool add_enum(std::vector<io::Json> values);
  io::Json take_members();
  io::Json copy_all(const std::vector<const io::Json*>& schemas);

  CompileBudget& budget_;
  bool is_never_ = false, has_members_ = false, has_enum_ = false, has_required_ = false;
  size_t num_schemas_ = 0;
  std::vector<io::JsonMember> keywords_;  // those whose values are combined at once
  std::vector<Member> members_;
  std::unordered_map<std::string, size_t> member_ids_;  // by name
  std::vector<Additional> additional_;
  std::vector<const io::Json*> items_;
  std::vector<io::Json> enum_, required_;
  std::set<std::string> required_names_;
};

}  // namespace pagoda::grammar

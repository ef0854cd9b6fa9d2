// Evaluator: walks a template's tree once, with the variables of one rendering.
// State: the scope chain, the output text, the runtime with its budgets. Thread rule: one rendering, one thread.
#pragma once

#include <memory>
#include <vector>

#include "base/json.h"
#include "text/jinja/parse/tree.h"
#include "text/jinja/runtime.h"
#include "text/jinja/value/objects.h"

namespace pagoda::text::jinja {

// Variables of a block. Lives as long as the block, or as long as the rendering if a macro defined inside may use it.
struct Scope : Object {
  Scope* parent = nullptr;
  bool captured = false;
  std::vector<std::pair<int, Value>> variables;  // by symbol

  Value* find(int symbol);
  void set(int symbol, const Value& value);
};

class Evaluator;

// The `loop` of a for: pulls items one at a time, so that a condition sees changes made by earlier iterations.
struct Loop : Object {
  Loop(Evaluator& evaluator, const Node& node, Scope* outer, const Value& iterable, int64_t depth0);
  bool advance(Value& item);  // false at the end
  Value attribute(std::string_view name) override;
  Value call_method(std::string_view name, const Arguments& arguments);

  Evaluator& evaluator;
  const Node& node;
  Scope* outer;
  int64_t depth0;
  bool ended = false;  // the enclosing scopes may be gone: no more items, no recursion

 private:
  bool pull(Value& item);  // the next item that satisfies the condition
  const Value& peek();     // missing at the end
  int64_t length();

  Value iterable_;
  Items items_;
  int64_t index0_ = -1, length_ = -1;
  Value before_, current_, after_, last_changed_;
  std::vector<Value> drained_;  // pulled ahead to determine the length
  size_t num_drained_taken_ = 0;
};

class Evaluator {
 public:
  Evaluator(const Tree& tree, const io::Json& variables, Runtime& runtime);
  std::shared_ptr<const Text> run();  // null if the runtime has an error

 private:
  friend struct Loop;
  enum class Flow : uint8_t { normal, break_loop, continue_loop };

  // A scope for the duration of a block.
  class Block {
   public:
    Block(Evaluator& evaluator, Scope* parent);
    ~Block();
    Scope* operator->() const { return scope_.get(); }

   private:
    Evaluator& evaluator_;
    Scope* saved_;
    std::unique_ptr<Scope> scope_;
  };

  // Statements: evaluator.cpp.
  Flow execute_body(const Body& body);
  Flow execute(const Node& node);
  Flow execute_if(const Node& node);
  void execute_for(const Node& node, const Value& iterable, Scope* outer, int64_t depth0);
  void execute_call_block(const Node& node);
  void execute_with(const Node& node);
  Value render_body(const Body& body);  // its text as a value, in its own scope
  void emit(const Value& value);
  void assign(const Node& target, const Value& value);
  Value make_macro(const Node& node);

  // Expressions: expressions.cpp.
  Value evaluate(const Node& node);
  Value evaluate_optional(const NodePtr& node) { return node != nullptr ? evaluate(*node) : Value(); }
  Value evaluate_name(const Node& node);
  Value evaluate_dict(const Node& node);
  Value evaluate_items(const Node& node, Kind kind);
  Value evaluate_subscript(const Node& node);
  Value evaluate_slice(const Node& node);
  Value evaluate_filter(const Node& node);
  Value evaluate_test(const Node& node);
  Value evaluate_logical(const Node& node);
  Value evaluate_conditional(const Node& node);
  Value evaluate_compare(const Node& node);
  Value evaluate_arithmetic(const Node& node);
  Value evaluate_concat(const Node& node);
  Value evaluate_call(const Node& node, const Value& caller);

  // Calls: calls.cpp.
  Arguments evaluate_arguments(const CallParts& parts);
  Value call(const Value& callee, Arguments arguments);
  Value call_macro(const Function& macro, Arguments arguments);
  void bind_parameters(const Function& macro, Arguments& arguments, Scope& scope);
  Value call_loop(Loop& loop, const Arguments& arguments);
  Value convert(const io::Json& json);

  const Tree& tree_;
  Runtime& runtime_;
  std::vector<Value> globals_;  // by symbol; missing if the name is unknown
  Scope root_;
  Scope* scope_ = &root_;
  TextBuilder* out_ = nullptr;
  Value block_input_;  // input that a filter or set block passes to its filters
};

bool is_global(std::string_view name);  // range, namespace, raise_exception, ...
Value call_global_function(Runtime& runtime, std::string_view name, const Arguments& arguments);

}  // namespace pagoda::text::jinja

// Expressions: one method per node kind, each returning a value.
#include "base/concat.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters/filters.h"
#include "text/jinja/value/print.h"

namespace pagoda::text::jinja {

// Kept small: this frame is on the stack once per nesting level.
Value Evaluator::evaluate(const Node& node) {
  if (!runtime_.step() || !runtime_.check_stack()) return Value::undefined({});
  runtime_.line = node.line;
  switch (node.kind) {
    case NodeKind::constant: return node.value;
    case NodeKind::name: return evaluate_name(node);
    case NodeKind::list: return evaluate_items(node, Kind::list);
    case NodeKind::tuple: return evaluate_items(node, Kind::tuple);
    case NodeKind::dict: return evaluate_dict(node);
    case NodeKind::attribute:
    case NodeKind::item: return evaluate_subscript(node);
    case NodeKind::slice: return evaluate_slice(node);
    case NodeKind::call: return evaluate_call(node, Value());
    case NodeKind::filter: return evaluate_filter(node);
    case NodeKind::test: return evaluate_test(node);
    case NodeKind::minus: return negate(runtime_, evaluate(*node.children[0]), true);
    case NodeKind::plus: return negate(runtime_, evaluate(*node.children[0]), false);
    case NodeKind::logical_not: return Value::of_bool(!truthy(evaluate(*node.children[0])));
    case NodeKind::logical_and:
    case NodeKind::logical_or: return evaluate_logical(node);
    case NodeKind::conditional: return evaluate_conditional(node);
    case NodeKind::compare: return evaluate_compare(node);
    case NodeKind::arithmetic: return evaluate_arithmetic(node);
    case NodeKind::concat: return evaluate_concat(node);
    default: return runtime_.fail("expression expected");
  }
}

Value Evaluator::evaluate_name(const Node& node) {
  for (Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    if (const Value* found = scope->find(node.symbol)) return *found;
  }
  const Value& global = globals_[node.symbol];
  if (!global.is_missing()) return global;
  return Value::undefined("'" + tree_.names[node.symbol] + "' is undefined");
}

Value Evaluator::evaluate_items(const Node& node, Kind kind) {
  std::vector<Value> items;
  for (const NodePtr& child : node.children) items.push_back(evaluate(*child));
  return runtime_.make_list(std::move(items), kind);
}

Value Evaluator::evaluate_dict(const Node& node) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const Value key = evaluate(*node.children[i]);
    set_in_dict(runtime_, entries, key, evaluate(*node.children[i + 1]));
  }
  return runtime_.make_dict(std::move(entries));
}

Value Evaluator::evaluate_subscript(const Node& node) {
  const Value object = evaluate(*node.children[0]);
  if (node.kind == NodeKind::attribute) {
    runtime_.line = node.line;
    return get_attribute(runtime_, object, node.text);
  }
  const Value key = evaluate(*node.children[1]);
  runtime_.line = node.line;
  return get_item(runtime_, object, key);
}

Value Evaluator::evaluate_slice(const Node& node) {
  const Value object = evaluate(*node.children[0]);
  const Value start = evaluate_optional(node.children[1]);
  const Value stop = evaluate_optional(node.children[2]);
  const Value step = evaluate_optional(node.children[3]);
  runtime_.line = node.line;
  return slice(runtime_, object, start, stop, step);
}

Value Evaluator::evaluate_filter(const Node& node) {
  const Value input = node.children[0] != nullptr ? evaluate(*node.children[0]) : std::exchange(block_input_, {});
  const Arguments arguments = evaluate_arguments(*node.call);
  runtime_.line = node.line;
  if (node.filter != nullptr) return node.filter(runtime_, input, arguments);
  if (is_unsupported_filter(node.text))
    return runtime_.fail_unsupported("filter '" + node.text + "' is not supported in chat templates");
  return runtime_.fail("unknown filter '" + node.text + "'");
}

Value Evaluator::evaluate_test(const Node& node) {
  const Value input = evaluate(*node.children[0]);
  const Arguments arguments = evaluate_arguments(*node.call);
  runtime_.line = node.line;
  if (node.test == nullptr) return runtime_.fail("unknown test '" + node.text + "'");
  return Value::of_bool(node.test(runtime_, input, arguments));
}

Value Evaluator::evaluate_logical(const Node& node) {
  const bool stops_at = node.kind == NodeKind::logical_or;
  Value value;
  for (const NodePtr& child : node.children) {
    value = evaluate(*child);
    if (truthy(value) == stops_at) break;
  }
  return value;
}

Value Evaluator::evaluate_conditional(const Node& node) {
  if (truthy(evaluate(*node.children[1]))) return evaluate(*node.children[0]);
  if (node.children[2] != nullptr) return evaluate(*node.children[2]);
  return Value::undefined(
      concat("the inline if-expression on line ", node.line, " evaluated to false and no else section was defined."));
}

// a < b < c means a < b and b < c, with b evaluated once.
Value Evaluator::evaluate_compare(const Node& node) {
  Value left = evaluate(*node.children[0]);
  for (size_t i = 0; i < node.operators.size(); ++i) {
    Value right = evaluate(*node.children[i + 1]);
    runtime_.line = node.line;
    if (!compare(runtime_, node.operators[i], left, right)) return Value::of_bool(false);
    left = std::move(right);
  }
  return Value::of_bool(true);
}

Value Evaluator::evaluate_arithmetic(const Node& node) {
  Value left = evaluate(*node.children[0]);
  for (size_t i = 0; i < node.operators.size(); ++i) {
    const Value right = evaluate(*node.children[i + 1]);
    runtime_.line = node.line;
    left = arithmetic(runtime_, node.operators[i], left, right);
  }
  return left;
}

Value Evaluator::evaluate_concat(const Node& node) {
  TextBuilder out(runtime_);
  for (const NodePtr& child : node.children) append_str(runtime_, evaluate(*child), out);
  return out.finish();
}

Value Evaluator::evaluate_call(const Node& node, const Value& caller) {
  const Node& callee_node = *node.children[0];
  Value callee, object;
  if (callee_node.kind == NodeKind::attribute) {
    object = evaluate(*callee_node.children[0]);
    runtime_.line = node.line;
    // Methods are called directly, without creating a bound-method value.
    if (!has_method(object, callee_node.text) || object.is(Kind::loop))
      callee = get_attribute(runtime_, object, callee_node.text);
  } else {
    callee = evaluate(callee_node);
  }
  Arguments arguments = evaluate_arguments(*node.call);
  if (!caller.is_missing()) arguments.named.emplace_back("caller", caller);
  runtime_.line = node.line;
  if (!runtime_.ok()) return Value::undefined({});
  if (callee.is_missing()) return call_method(runtime_, object, callee_node.text, arguments);
  return call(callee, std::move(arguments));
}

}  // namespace pagoda::text::jinja

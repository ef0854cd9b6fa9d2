// Statements, scopes and loops.
#include "text/jinja/evaluator.h"

#include "base/concat.h"
#include "text/jinja/value/print.h"
#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {

Value* Scope::find(int symbol) {
  for (auto& [name, value] : variables) {
    if (name == symbol) return &value;
  }
  return nullptr;
}

void Scope::set(int symbol, const Value& value) {
  if (Value* found = find(symbol)) *found = value;
  else variables.emplace_back(symbol, value);
}

Evaluator::Evaluator(const Tree& tree, const io::Json& variables, Runtime& runtime)
    : tree_(tree), runtime_(runtime), globals_(tree.names.size()) {
  for (size_t i = 0; i < tree.names.size(); ++i) {  // converts only variables that the template names
    const std::string& name = tree.names[i];
    if (const auto constant = tree.constants.find(name); constant != tree.constants.end()) {
      globals_[i] = runtime.make_string(constant->second, /*trusted=*/true);
    } else if (const io::Json* variable = variables.find(name)) {
      globals_[i] = convert(*variable);
    } else if (is_global(name)) {
      Function* function = runtime.create<Function>();
      function->name = name;
      globals_[i] = Value::of_object(Kind::function, function);
    }
  }
}

std::shared_ptr<const Text> Evaluator::run() {
  TextBuilder out(runtime_);
  out_ = &out;
  execute_body(tree_.body);
  return runtime_.ok() ? out.finish().text : nullptr;
}

Value Evaluator::convert(const io::Json& json) {
  if (!runtime_.work(32) || !runtime_.check_stack()) return Value::none();
  switch (json.kind()) {
    case io::Json::Kind::null: return Value::none();
    case io::Json::Kind::boolean: return Value::of_bool(json.as_bool());
    case io::Json::Kind::integer: return Value::of_int(json.as_integer());
    case io::Json::Kind::real: return Value::of_real(json.as_double());
    case io::Json::Kind::string:
      if (find_invalid_utf8(json.as_string()) != std::string::npos)
        return runtime_.fail("a variable contains invalid UTF-8");
      return runtime_.make_string(json.as_string(), /*trusted=*/false);
    case io::Json::Kind::array: {
      std::vector<Value> items;
      for (const io::Json& item : json.items()) items.push_back(convert(item));
      return runtime_.make_list(std::move(items));
    }
    case io::Json::Kind::object: {
      std::vector<std::pair<Value, Value>> entries;
      for (const auto& [key, value] : json.members())
        entries.emplace_back(convert(io::Json::make_string(key)), convert(value));
      return runtime_.make_dict(std::move(entries));
    }
  }
  return Value::none();
}

Evaluator::Block::Block(Evaluator& evaluator, Scope* parent)
    : evaluator_(evaluator), saved_(evaluator.scope_), scope_(std::make_unique<Scope>()) {
  scope_->parent = parent;
  evaluator_.scope_ = scope_.get();
}

Evaluator::Block::~Block() {
  evaluator_.scope_ = saved_;
  if (scope_->captured) evaluator_.runtime_.adopt(std::move(scope_));
}

Value Evaluator::make_macro(const Node& node) {
  Function* macro = runtime_.create<Function>();
  macro->form = Function::Form::macro;
  macro->name = node.text;
  macro->macro = &node;
  macro->scope = scope_;
  for (Scope* scope = scope_; scope != nullptr && !scope->captured; scope = scope->parent) {
    scope->captured = true;
    runtime_.charge(sizeof(Scope));
  }
  return Value::of_object(Kind::function, macro);
}

void Evaluator::emit(const Value& value) {
  append_str(runtime_, value, *out_);
  if (out_->size() > runtime_.limits.max_output_bytes)
    runtime_.fail_budget(concat("rendering writes more than ", runtime_.limits.max_output_bytes, " bytes"));
}

Value Evaluator::render_body(const Body& body) {
  TextBuilder out(runtime_);
  TextBuilder* const saved = std::exchange(out_, &out);
  Block block(*this, scope_);
  execute_body(body);
  out_ = saved;
  return out.finish();
}

Evaluator::Flow Evaluator::execute_body(const Body& body) {
  for (const NodePtr& node : body) {
    if (!runtime_.step()) return Flow::break_loop;
    const Flow flow = execute(*node);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Evaluator::Flow Evaluator::execute(const Node& node) {
  if (!runtime_.check_stack()) return Flow::break_loop;
  runtime_.line = node.line;
  switch (node.kind) {
    case NodeKind::data: emit(node.value); break;
    case NodeKind::output:
      for (const NodePtr& child : node.children) emit(evaluate(*child));
      break;
    case NodeKind::assign: assign(*node.children[0], evaluate(*node.children[1])); break;
    case NodeKind::if_else: return execute_if(node);
    case NodeKind::for_loop: execute_for(node, evaluate(*node.children[1]), scope_, 0); break;
    case NodeKind::macro: scope_->set(node.symbol, make_macro(node)); break;
    case NodeKind::call_block: execute_call_block(node); break;
    case NodeKind::with: execute_with(node); break;
    case NodeKind::generation: emit(render_body(node.bodies[0])); break;
    case NodeKind::assign_block:
      block_input_ = render_body(node.bodies[0]);
      assign(*node.children[0],
             node.children[1] != nullptr ? evaluate(*node.children[1]) : std::exchange(block_input_, {}));
      break;
    case NodeKind::filter_block:
      block_input_ = render_body(node.bodies[0]);
      emit(evaluate(*node.children[0]));
      break;
    case NodeKind::break_loop: return Flow::break_loop;
    case NodeKind::continue_loop: return Flow::continue_loop;
    default: runtime_.fail("statement expected");
  }
  return Flow::normal;
}

Evaluator::Flow Evaluator::execute_if(const Node& node) {
  for (size_t i = 0; i < node.bodies.size(); ++i) {
    const bool is_else = i == node.children.size();
    if (is_else || truthy(evaluate(*node.children[i]))) return execute_body(node.bodies[i]);
  }
  return Flow::normal;
}

void Evaluator::execute_for(const Node& node, const Value& iterable, Scope* outer, int64_t depth0) {
  auto owned = std::make_unique<Loop>(*this, node, outer, iterable, depth0);
  Loop& loop = *owned;
  runtime_.charge(sizeof(Loop));
  runtime_.adopt(std::move(owned));
  bool any = false;
  for (Value item; loop.advance(item) && runtime_.step();) {
    any = true;
    Block block(*this, outer);
    assign(*node.children[0], item);
    block->set(tree_.loop_symbol, Value::of_object(Kind::loop, &loop));
    if (execute_body(node.bodies[0]) == Flow::break_loop) break;
  }
  loop.ended = true;
  if (any || !runtime_.ok()) return;
  Block block(*this, outer);
  execute_body(node.bodies[1]);
}

void Evaluator::execute_call_block(const Node& node) {
  const Value caller = make_macro(node);
  emit(evaluate_call(*node.children[0], caller));
}

// Values are evaluated in the outer scope: they do not see each other.
void Evaluator::execute_with(const Node& node) {
  std::vector<Value> values;
  for (size_t i = 1; i < node.children.size(); i += 2) values.push_back(evaluate(*node.children[i]));
  Block block(*this, scope_);
  for (size_t i = 0; i < values.size(); ++i) assign(*node.children[2 * i], values[i]);
  execute_body(node.bodies[0]);
}

void Evaluator::assign(const Node& target, const Value& value) {
  if (target.kind == NodeKind::name) return scope_->set(target.symbol, value);
  if (target.kind == NodeKind::tuple) {
    const std::vector<Value> items = to_items(runtime_, value);
    const size_t wanted = target.children.size();
    if (items.size() != wanted) {
      runtime_.fail(concat(
          (items.size() < wanted ? "not enough values to unpack (expected " : "too many values to unpack (expected "),
          wanted, ", got ", items.size(), ")"));
      return;
    }
    for (size_t i = 0; i < wanted; ++i) assign(*target.children[i], items[i]);
    return;
  }
  const Value space = evaluate_name(target);
  if (!space.is(Kind::space)) return (void)runtime_.fail("cannot assign attribute on non-namespace object");
  if (target.text.starts_with('_')) return (void)runtime_.fail("names in a namespace may not begin with an underscore");
  for (auto& [name, member] : space.space().members) {
    if (name == target.text) return (void)(member = value);
  }
  runtime_.charge(sizeof(Value) + sizeof(std::string));
  space.space().members.emplace_back(target.text, value);
}

Loop::Loop(Evaluator& evaluator_in, const Node& node_in, Scope* outer_in, const Value& iterable, int64_t depth0_in)
    : evaluator(evaluator_in),
      node(node_in),
      outer(outer_in),
      depth0(depth0_in),
      iterable_(iterable),
      items_(evaluator_in.runtime_, iterable) {}

bool Loop::pull(Value& item) {
  if (num_drained_taken_ < drained_.size()) {
    item = std::move(drained_[num_drained_taken_++]);
    return true;
  }
  const NodePtr& condition = node.children[2];
  while (!ended && items_.next(item)) {
    if (condition == nullptr) return true;
    if (!evaluator.runtime_.step()) return false;
    Evaluator::Block block(evaluator, outer);
    evaluator.assign(*node.children[0], item);
    if (truthy(evaluator.evaluate(*condition))) return true;
  }
  return false;
}

const Value& Loop::peek() {
  if (after_.is_missing() && !pull(after_)) after_ = Value();
  return after_;
}

bool Loop::advance(Value& item) {
  Value next = std::exchange(after_, Value());
  if (next.is_missing() && !pull(next)) return false;
  before_ = std::move(current_);
  current_ = next;
  item = std::move(next);
  ++index0_;
  return true;
}

int64_t Loop::length() {
  if (length_ >= 0) return length_;
  const bool sized = node.children[2] == nullptr && !iterable_.is(Kind::iterator);
  if (sized) return length_ = length_of(evaluator.runtime_, iterable_);
  std::vector<Value> rest;
  for (Value item; pull(item);) rest.push_back(item);
  drained_ = std::move(rest);
  num_drained_taken_ = 0;
  return length_ = static_cast<int64_t>(drained_.size()) + index0_ + 1 + (after_.is_missing() ? 0 : 1);
}

Value Loop::attribute(std::string_view name) {
  if (name == "index0") return Value::of_int(index0_);
  if (name == "index") return Value::of_int(index0_ + 1);
  if (name == "first") return Value::of_bool(index0_ == 0);
  if (name == "last") return Value::of_bool(peek().is_missing());
  if (name == "length") return Value::of_int(length());
  if (name == "revindex") return Value::of_int(length() - index0_);
  if (name == "revindex0") return Value::of_int(length() - index0_ - 1);
  if (name == "depth") return Value::of_int(depth0 + 1);
  if (name == "depth0") return Value::of_int(depth0);
  if (name == "previtem") return index0_ == 0 ? Value::undefined("there is no previous item") : before_;
  if (name == "nextitem") return peek().is_missing() ? Value::undefined("there is no next item") : peek();
  return {};
}

Value Loop::call_method(std::string_view name, const Arguments& arguments) {
  Runtime& runtime = evaluator.runtime_;
  if (!arguments.named.empty()) return runtime.fail("loop." + std::string(name) + "() takes no keyword arguments");
  if (name == "cycle") {
    if (arguments.positional.empty()) return runtime.fail("no items for cycling given");
    return arguments.positional[static_cast<size_t>(index0_) % arguments.positional.size()];
  }
  const Value value = runtime.make_list(arguments.positional, Kind::tuple);
  const bool changed = last_changed_.is_missing() || !equals(runtime, last_changed_, value);
  last_changed_ = value;
  return Value::of_bool(changed);
}

}  // namespace pagoda::text::jinja

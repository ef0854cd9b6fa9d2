// Expressions by precedence: if-else, or, and, not, comparisons, + -, ~, * / // %, **, unary, filters and tests.
#include <array>

#include "text/jinja/parse/parser.h"

namespace pagoda::text::jinja {
namespace {

// Precedence levels of binary operators; higher binds tighter. `not` is between `and` and comparisons.
constexpr int kOr = 1, kAnd = 2, kNot = 3, kCompare = 4, kSum = 5, kConcat = 6, kProduct = 7, kPower = 8;

struct BinaryOperator {
  std::string_view text;
  int level;
  Operator op;
};
constexpr std::array kOperators = {
    BinaryOperator{"==", kCompare, Operator::equal},  BinaryOperator{"!=", kCompare, Operator::not_equal},
    BinaryOperator{"<", kCompare, Operator::less},    BinaryOperator{"<=", kCompare, Operator::less_equal},
    BinaryOperator{">", kCompare, Operator::greater}, BinaryOperator{">=", kCompare, Operator::greater_equal},
    BinaryOperator{"+", kSum, Operator::add},         BinaryOperator{"-", kSum, Operator::subtract},
    BinaryOperator{"~", kConcat, Operator::add},      BinaryOperator{"*", kProduct, Operator::multiply},
    BinaryOperator{"/", kProduct, Operator::divide},  BinaryOperator{"//", kProduct, Operator::floor_divide},
    BinaryOperator{"%", kProduct, Operator::modulo},  BinaryOperator{"**", kPower, Operator::power},
};

NodeKind kind_of_level(int level) {
  switch (level) {
    case kOr: return NodeKind::logical_or;
    case kAnd: return NodeKind::logical_and;
    case kCompare: return NodeKind::compare;
    case kConcat: return NodeKind::concat;
    default: return NodeKind::arithmetic;
  }
}

}  // namespace

// An expression, or several separated by commas, which form a tuple.
NodePtr Parser::parse_tuple(bool with_condition, std::string_view end_name, bool in_parentheses) {
  const int line = current().line;
  const auto ends = [&] {
    return current().kind == TokenKind::variable_end || current().kind == TokenKind::block_end || at_op(")") ||
           (!end_name.empty() && at_name(end_name));
  };
  NodePtr tuple = make(NodeKind::tuple, line);
  bool commas = false;
  while (ok() && !ends()) {
    tuple->children.push_back(parse_expression(with_condition));
    if (!skip_op(",")) break;
    commas = true;
  }
  if (!commas && tuple->children.size() == 1) return std::move(tuple->children[0]);
  if (!commas && !in_parentheses) return fail("expected an expression, got " + described());
  return sealed(std::move(tuple));
}

NodePtr Parser::parse_expression(bool with_condition) {
  Nest nest(*this);
  NodePtr value = parse_binary(kOr);
  while (ok() && with_condition && at_name("if")) {
    NodePtr node = make(NodeKind::conditional, take().line);
    node->children.push_back(std::move(value));
    node->children.push_back(parse_binary(kOr));
    node->children.push_back(skip_name("else") ? parse_expression() : nullptr);
    value = sealed(std::move(node));
  }
  return value;
}

// Level of the binary operator at the cursor, or 0.
int Parser::operator_level(Operator& op, int& num_tokens) const {
  num_tokens = 1;
  if (current().kind == TokenKind::name) {
    if (current().text == "or") return kOr;
    if (current().text == "and") return kAnd;
    if (current().text == "in") return op = Operator::in, kCompare;
    if (current().text == "not" && look().kind == TokenKind::name && look().text == "in")
      return num_tokens = 2, op = Operator::not_in, kCompare;
    return 0;
  }
  if (current().kind != TokenKind::op) return 0;
  for (const BinaryOperator& row : kOperators) {
    if (row.text == current().text) return op = row.op, row.level;
  }
  return 0;
}

// Precedence climbing. Consecutive operators of one level form one flat node, so long sums do not make deep trees.
NodePtr Parser::parse_binary(int level) {
  NodePtr left;
  if (level <= kNot && at_name("not")) {
    Nest nest(*this);
    left = make(NodeKind::logical_not, take().line);
    left->children.push_back(parse_binary(kNot));
    left = sealed(std::move(left));
  } else {
    left = parse_unary(true);
  }
  while (ok()) {
    Operator op = Operator::add;
    int num_tokens = 0;
    const int found = operator_level(op, num_tokens);
    if (found == 0 || found < level) break;
    NodePtr node = make(kind_of_level(found), current().line);
    node->children.push_back(std::move(left));
    while (ok() && operator_level(op, num_tokens) == found) {
      node->operators.push_back(op);
      for (int i = 0; i < num_tokens; ++i) take();
      node->children.push_back(parse_binary(found + 1));
    }
    left = sealed(std::move(node));
  }
  return left;
}

NodePtr Parser::parse_unary(bool with_filters) {
  NodePtr node;
  if (at_op("-") || at_op("+")) {
    Nest nest(*this);
    node = make(at_op("-") ? NodeKind::minus : NodeKind::plus, current().line);
    take();
    node->children.push_back(parse_unary(false));
    node = sealed(std::move(node));
  } else {
    node = parse_primary();
  }
  node = parse_postfix(std::move(node));
  return with_filters ? parse_filters_and_tests(std::move(node)) : std::move(node);
}

NodePtr Parser::parse_primary() {
  const int line = current().line;
  switch (current().kind) {
    case TokenKind::name: return parse_name_or_constant();
    case TokenKind::string: {
      std::string text;
      while (current().kind == TokenKind::string) text += take().text;
      NodePtr node = make(NodeKind::constant, line);
      node->value = Value::literal(std::move(text));
      return node;
    }
    case TokenKind::integer:
    case TokenKind::real: {
      const Token token = take();
      NodePtr node = make(NodeKind::constant, line);
      node->value = token.kind == TokenKind::integer ? Value::of_int(token.integer) : Value::of_real(token.real);
      return node;
    }
    default: break;
  }
  if (at_op("[")) return parse_list();
  if (at_op("{")) return parse_dict();
  if (!skip_op("(")) return fail("unexpected " + described());
  NodePtr node = parse_tuple(true, {}, true);
  expect_op(")");
  return node;
}

NodePtr Parser::parse_name_or_constant() {
  const Token token = take();
  const std::string& name = token.text;
  NodePtr node = make(NodeKind::constant, token.line);
  if (name == "true" || name == "True" || name == "false" || name == "False") {
    node->value = Value::of_bool(name == "true" || name == "True");
  } else if (name == "none" || name == "None") {
    node->value = Value::none();
  } else {
    node->kind = NodeKind::name;
    node->symbol = symbol(name);
    num_caller_uses_ += name == "caller";
    num_kwargs_uses_ += name == "kwargs";
    num_varargs_uses_ += name == "varargs";
  }
  return node;
}

NodePtr Parser::parse_list() {
  NodePtr node = make(NodeKind::list, take().line);
  while (ok() && !at_op("]")) {
    if (!node->children.empty()) expect_op(",");
    if (at_op("]")) break;
    node->children.push_back(parse_expression());
  }
  expect_op("]");
  return sealed(std::move(node));
}

NodePtr Parser::parse_dict() {
  NodePtr node = make(NodeKind::dict, take().line);
  while (ok() && !at_op("}")) {
    if (!node->children.empty()) expect_op(",");
    if (at_op("}")) break;
    node->children.push_back(parse_expression());
    expect_op(":");
    node->children.push_back(parse_expression());
  }
  expect_op("}");
  return sealed(std::move(node));
}

NodePtr Parser::parse_postfix(NodePtr node) {
  while (ok()) {
    if (at_op(".") || at_op("[")) node = parse_subscript(std::move(node));
    else if (at_op("(")) node = parse_call(std::move(node));
    else break;
  }
  return node;
}

NodePtr Parser::parse_filters_and_tests(NodePtr node) {
  while (ok()) {
    if (skip_op("|")) node = parse_filter(std::move(node));
    else if (at_name("is")) node = parse_test(std::move(node));
    else if (at_op("(")) node = parse_call(std::move(node));
    else break;
  }
  return node;
}

NodePtr Parser::parse_subscript(NodePtr object) {
  const int line = current().line;
  NodePtr node = make(NodeKind::item, line);
  node->children.push_back(std::move(object));
  if (skip_op(".")) {
    if (current().kind == TokenKind::integer) {
      node->children.push_back(parse_primary());
    } else {
      node->kind = NodeKind::attribute;
      node->text = expect_name();
    }
    return sealed(std::move(node));
  }
  expect_op("[");
  const auto part = [&]() -> NodePtr { return at_op(":") || at_op("]") ? nullptr : parse_expression(); };
  NodePtr start = part();
  if (skip_op(":")) {
    node->kind = NodeKind::slice;
    node->children.push_back(std::move(start));
    node->children.push_back(part());
    node->children.push_back(skip_op(":") ? part() : nullptr);
  } else if (at_op(",")) {
    NodePtr key = make(NodeKind::tuple, line);
    key->children.push_back(std::move(start));
    while (ok() && skip_op(",")) key->children.push_back(parse_expression());
    node->children.push_back(sealed(std::move(key)));
  } else {
    node->children.push_back(start != nullptr ? std::move(start) : fail("expected a subscript, got " + described()));
  }
  expect_op("]");
  return sealed(std::move(node));
}

std::unique_ptr<CallParts> Parser::parse_call_parts() {
  auto parts = std::make_unique<CallParts>();
  const int line = current().line;
  expect_op("(");
  bool first = true;
  for (; ok() && !at_op(")"); first = false) {
    if (!first) expect_op(",");
    if (at_op(")")) break;
    const bool plain_allowed = parts->named.empty() && parts->star == nullptr && parts->double_star == nullptr;
    bool valid = parts->double_star == nullptr;
    if (skip_op("*")) {
      valid = valid && parts->star == nullptr;
      parts->star = parse_expression();
    } else if (skip_op("**")) {
      parts->double_star = parse_expression();
    } else if (current().kind == TokenKind::name && look().kind == TokenKind::op && look().text == "=") {
      const std::string name = take().text;
      take();
      parts->named.emplace_back(name, parse_expression());
    } else {
      valid = valid && plain_allowed;
      parts->positional.push_back(parse_expression());
    }
    if (!valid) fail("invalid order of arguments in a call", line);
  }
  expect_op(")");
  return parts;
}

NodePtr Parser::parse_call(NodePtr callee) {
  NodePtr node = make(NodeKind::call, current().line);
  node->children.push_back(std::move(callee));
  node->call = parse_call_parts();
  return sealed(std::move(node));
}

// The name and arguments after `|`.
NodePtr Parser::parse_filter(NodePtr input) {
  NodePtr node = make(NodeKind::filter, current().line);
  node->text = expect_name();
  node->children.push_back(std::move(input));
  node->filter = find_filter(node->text);  // an unknown one is an error where it runs: it may be in a branch not taken
  node->call = at_op("(") ? parse_call_parts() : std::make_unique<CallParts>();
  return sealed(std::move(node));
}

NodePtr Parser::parse_test(NodePtr input) {
  NodePtr node = make(NodeKind::test, take().line);
  const bool negated = skip_name("not");
  node->text = expect_name();
  node->children.push_back(std::move(input));
  node->test = find_test(node->text);
  const TokenKind kind = current().kind;
  const bool operand = kind == TokenKind::name || kind == TokenKind::string || kind == TokenKind::integer ||
                       kind == TokenKind::real || at_op("[") || at_op("{");
  if (at_op("(")) {
    node->call = parse_call_parts();
  } else {
    node->call = std::make_unique<CallParts>();
    if (at_name("is")) return fail("tests cannot follow each other");
    if (operand && !at_name("else") && !at_name("or") && !at_name("and"))
      node->call->positional.push_back(parse_postfix(parse_primary()));
  }
  node = sealed(std::move(node));
  if (!negated) return node;
  NodePtr inverse = make(NodeKind::logical_not, node->line);
  inverse->children.push_back(std::move(node));
  return sealed(std::move(inverse));
}

}  // namespace pagoda::text::jinja

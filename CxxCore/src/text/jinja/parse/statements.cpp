// The parser's cursor, and statements.
#include <algorithm>

#include "base/concat.h"
#include "text/jinja/parse/parser.h"

namespace pagoda::text::jinja {
namespace {

constexpr int kMaxNesting = 100;
constexpr int kMaxHeight = 250;

}  // namespace

Status parse_tree(std::vector<Token> tokens, Tree& tree) { return Parser(std::move(tokens), tree).run(); }

Status Parser::run() {
  tree_.loop_symbol = symbol("loop");
  tree_.caller_symbol = symbol("caller");
  tree_.kwargs_symbol = symbol("kwargs");
  tree_.varargs_symbol = symbol("varargs");
  tree_.body = parse_body({});
  return error_;
}

Parser::Nest::Nest(Parser& p) : parser(p) {
  if (++parser.depth_ > kMaxNesting) parser.fail(concat("tags and brackets nest deeper than ", kMaxNesting));
}

Token Parser::take() {
  const Token token = current();
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool Parser::skip_op(std::string_view op) {
  if (!at_op(op)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!at_name(name)) return false;
  take();
  return true;
}

void Parser::expect_op(std::string_view op) {
  if (!skip_op(op)) fail("expected '" + std::string(op) + "', got " + described());
}

void Parser::expect(TokenKind kind, const char* what) {
  if (current().kind != kind) fail(std::string("expected ") + what + ", got " + described());
  else take();
}

std::string Parser::expect_name() {
  if (current().kind == TokenKind::name) return take().text;
  fail("expected a name, got " + described());
  return {};
}

NodePtr Parser::fail(const std::string& reason, int line, StatusCode code) {
  if (ok()) {
    error_ = make_error(code, concat(tree_.file_name, ":", line > 0 ? line : current().line, ": ", reason));
    position_ = tokens_.size() - 1;
  }
  return make(NodeKind::constant, 0);
}

std::string Parser::described() const {
  switch (current().kind) {
    case TokenKind::data: return "text";
    case TokenKind::variable_begin: return "'{{'";
    case TokenKind::variable_end: return "'}}'";
    case TokenKind::block_begin: return "'{%'";
    case TokenKind::block_end: return "'%}'";
    case TokenKind::string: return "a string";
    case TokenKind::integer:
    case TokenKind::real: return "a number";
    case TokenKind::name:
    case TokenKind::op: return "'" + current().text + "'";
    case TokenKind::end: return "the end of the template";
  }
  return {};
}

int Parser::symbol(std::string_view name) {
  const auto [entry, is_new] = symbols_.try_emplace(std::string(name), static_cast<int>(tree_.names.size()));
  if (is_new) tree_.names.emplace_back(name);
  return entry->second;
}

NodePtr Parser::make(NodeKind kind, int line) const {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->line = line;
  return node;
}

NodePtr Parser::sealed(NodePtr node) {
  const auto raise = [&](const NodePtr& child) {
    if (child != nullptr) node->height = std::max(node->height, child->height + 1);
  };
  for (const NodePtr& child : node->children) raise(child);
  for (const Body& body : node->bodies) {
    for (const NodePtr& child : body) raise(child);
  }
  if (node->call != nullptr) {
    for (const NodePtr& argument : node->call->positional) raise(argument);
    for (const auto& [name, argument] : node->call->named) raise(argument);
    raise(node->call->star);
    raise(node->call->double_star);
  }
  if (node->signature != nullptr) {
    for (const NodePtr& value : node->signature->defaults) raise(value);
  }
  if (node->height > kMaxHeight) return fail("expression or block is too complex", node->line);
  return node;
}

// Statements up to a tag named in end_names, which becomes the current token; without end_names, to the end.
Body Parser::parse_body(Names end_names) {
  Nest nest(*this);
  Body body;
  while (ok() && current().kind != TokenKind::end) {
    const Token token = take();
    if (token.kind == TokenKind::data) {
      NodePtr node = make(NodeKind::data, token.line);
      node->value = Value::literal(token.text);
      body.push_back(std::move(node));
    } else if (token.kind == TokenKind::variable_begin) {
      NodePtr node = make(NodeKind::output, token.line);
      node->children.push_back(parse_tuple(true));
      expect(TokenKind::variable_end, "'}}'");
      body.push_back(sealed(std::move(node)));
    } else {
      const bool ends = std::any_of(end_names.begin(), end_names.end(), [this](auto name) { return at_name(name); });
      if (ends) return body;
      parse_statement(body);
      expect(TokenKind::block_end, "'%}'");
    }
  }
  if (end_names.size() > 0) fail("the template ends before '" + std::string(*(end_names.end() - 1)) + "'");
  return body;
}

Body Parser::parse_block_body(Names end_names) {
  skip_op(":");
  expect(TokenKind::block_end, "'%}'");
  return parse_body(end_names);
}

void Parser::parse_statement(Body& body) {
  if (current().kind != TokenKind::name) {
    fail("expected the name of a tag, got " + described());
    return;
  }
  const std::string tag = current().text;
  const int line = current().line;
  if (tag == "for") body.push_back(parse_for());
  else if (tag == "if") body.push_back(parse_if());
  else if (tag == "set") body.push_back(parse_set());
  else if (tag == "macro") body.push_back(parse_macro());
  else if (tag == "call") body.push_back(parse_call_block());
  else if (tag == "filter") body.push_back(parse_filter_block());
  else if (tag == "with") body.push_back(parse_with());
  else if (tag == "print") body.push_back(parse_print());
  else if (tag == "break") body.push_back(parse_loop_control(NodeKind::break_loop));
  else if (tag == "continue") body.push_back(parse_loop_control(NodeKind::continue_loop));
  else if (tag == "generation") {
    take();
    NodePtr node = make(NodeKind::generation, line);
    node->bodies.push_back(parse_block_body({"endgeneration"}));
    take();
    body.push_back(sealed(std::move(node)));
  } else {
    static constexpr std::string_view kForeign[] = {"block", "extends", "include", "import", "from", "autoescape"};
    const bool foreign = std::find(std::begin(kForeign), std::end(kForeign), tag) != std::end(kForeign);
    if (foreign) fail("tag '" + tag + "' is not supported in chat templates", line, StatusCode::unsupported);
    else fail("unknown tag '" + tag + "'", line);
  }
}

NodePtr Parser::parse_for() {
  NodePtr node = make(NodeKind::for_loop, take().line);
  node->children.push_back(parse_target(false, "in"));
  if (!skip_name("in")) fail("expected 'in', got " + described());
  node->children.push_back(parse_tuple(false, "recursive"));
  node->children.push_back(skip_name("if") ? parse_expression() : nullptr);
  node->recursive = skip_name("recursive");
  ++num_loops_;
  node->bodies.push_back(parse_block_body({"else", "endfor"}));
  --num_loops_;
  node->bodies.emplace_back();
  if (take().text == "else") {
    node->bodies.back() = parse_block_body({"endfor"});
    take();
  }
  return sealed(std::move(node));
}

NodePtr Parser::parse_if() {
  NodePtr node = make(NodeKind::if_else, current().line);
  do {
    take();
    node->children.push_back(parse_tuple(false));
    node->bodies.push_back(parse_block_body({"elif", "else", "endif"}));
  } while (ok() && at_name("elif"));
  if (take().text == "else") {
    node->bodies.push_back(parse_block_body({"endif"}));
    take();
  }
  return sealed(std::move(node));
}

NodePtr Parser::parse_set() {
  const int line = take().line;
  NodePtr target = parse_target(true);
  NodePtr node = make(NodeKind::assign_block, line);
  node->children.push_back(std::move(target));
  if (skip_op("=")) {
    node->kind = NodeKind::assign;
    node->children.push_back(parse_tuple(true));
    return sealed(std::move(node));
  }
  NodePtr filters;
  while (ok() && skip_op("|")) filters = parse_filter(std::move(filters));
  node->children.push_back(std::move(filters));
  node->bodies.push_back(parse_block_body({"endset"}));
  take();
  return sealed(std::move(node));
}

void Parser::parse_signature(Signature& signature) {
  expect_op("(");
  while (ok() && !at_op(")")) {
    if (!signature.names.empty()) expect_op(",");
    const std::string name = expect_name();
    signature.names.push_back(name);
    signature.symbols.push_back(symbol(name));
    const bool had_default = !signature.defaults.empty() && signature.defaults.back() != nullptr;
    signature.defaults.push_back(skip_op("=") ? parse_expression() : nullptr);
    if (had_default && signature.defaults.back() == nullptr)
      fail("parameter '" + name + "' needs a default, as the one before it has");
  }
  expect_op(")");
}

Body Parser::parse_macro_body(Signature& signature, std::string_view end_name) {
  const size_t callers = num_caller_uses_, kwargs = num_kwargs_uses_, varargs = num_varargs_uses_;
  const int num_loops = std::exchange(num_loops_, 0);
  Body body = parse_block_body({end_name});
  num_loops_ = num_loops;
  const auto names = [&](const char* name) {
    return std::find(signature.names.begin(), signature.names.end(), name) != signature.names.end();
  };
  signature.uses_caller = num_caller_uses_ > callers && !names("caller");
  signature.uses_kwargs = num_kwargs_uses_ > kwargs && !names("kwargs");
  signature.uses_varargs = num_varargs_uses_ > varargs && !names("varargs");
  take();
  return body;
}

NodePtr Parser::parse_macro() {
  NodePtr node = make(NodeKind::macro, take().line);
  node->text = expect_name();
  node->symbol = symbol(node->text);
  node->signature = std::make_unique<Signature>();
  parse_signature(*node->signature);
  node->bodies.push_back(parse_macro_body(*node->signature, "endmacro"));
  return sealed(std::move(node));
}

NodePtr Parser::parse_call_block() {
  NodePtr node = make(NodeKind::call_block, take().line);
  node->text = "caller";
  node->signature = std::make_unique<Signature>();
  if (at_op("(")) parse_signature(*node->signature);
  node->children.push_back(parse_expression());
  if (node->children[0]->kind != NodeKind::call) fail("expected a call", node->line);
  node->bodies.push_back(parse_macro_body(*node->signature, "endcall"));
  return sealed(std::move(node));
}

NodePtr Parser::parse_filter_block() {
  NodePtr node = make(NodeKind::filter_block, take().line);
  NodePtr filters = parse_filter(nullptr);
  while (ok() && skip_op("|")) filters = parse_filter(std::move(filters));
  node->children.push_back(std::move(filters));
  node->bodies.push_back(parse_block_body({"endfilter"}));
  take();
  return sealed(std::move(node));
}

NodePtr Parser::parse_with() {
  NodePtr node = make(NodeKind::with, take().line);
  while (ok() && current().kind != TokenKind::block_end) {
    if (!node->children.empty()) expect_op(",");
    node->children.push_back(parse_target(false));
    expect_op("=");
    node->children.push_back(parse_expression());
  }
  node->bodies.push_back(parse_block_body({"endwith"}));
  take();
  return sealed(std::move(node));
}

NodePtr Parser::parse_print() {
  NodePtr node = make(NodeKind::output, take().line);
  while (ok() && current().kind != TokenKind::block_end) {
    if (!node->children.empty()) expect_op(",");
    node->children.push_back(parse_expression());
  }
  return sealed(std::move(node));
}

NodePtr Parser::parse_loop_control(NodeKind kind) {
  if (num_loops_ == 0) return fail("'" + current().text + "' outside of a loop");
  return make(kind, take().line);
}

// One target or several separated by commas: names, tuples in parentheses and, for `set`, namespace members.
NodePtr Parser::parse_target(bool with_namespace, std::string_view end_name) {
  Nest nest(*this);
  const int line = current().line;
  NodePtr first = parse_single_target(with_namespace);
  if (!at_op(",")) return first;
  NodePtr tuple = make(NodeKind::tuple, line);
  tuple->children.push_back(std::move(first));
  while (ok() && skip_op(",")) {
    if (at_op("=") || at_op(")") || (!end_name.empty() && at_name(end_name))) break;
    tuple->children.push_back(parse_single_target(with_namespace));
  }
  return sealed(std::move(tuple));
}

NodePtr Parser::parse_single_target(bool with_namespace) {
  if (skip_op("(")) {
    NodePtr inner = parse_target(with_namespace);
    expect_op(")");
    return inner;
  }
  static constexpr std::string_view kReserved[] = {"true", "false", "none", "True", "False", "None"};
  const int line = current().line;
  const std::string name = expect_name();
  if (std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved))
    return fail("can't assign to '" + name + "'", line);
  NodePtr node = make(NodeKind::name, line);
  node->symbol = symbol(name);
  if (with_namespace && skip_op(".")) {
    node->kind = NodeKind::namespace_ref;
    node->text = expect_name();
  }
  return node;
}

}  // namespace pagoda::text::jinja

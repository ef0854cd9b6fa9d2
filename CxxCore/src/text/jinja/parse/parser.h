// Recursive-descent parser. The first error is kept and moves the cursor to the end, so that every loop terminates; the
// partial tree is then discarded.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/jinja/parse/tree.h"

namespace pagoda::text::jinja {

class Parser {
 public:
  Parser(std::vector<Token> tokens, Tree& tree) : tokens_(std::move(tokens)), tree_(tree) {}
  Status run();

 private:
  using Names = std::initializer_list<std::string_view>;

  // Cursor.
  const Token& current() const { return tokens_[position_]; }
  const Token& look() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }
  Token take();
  bool ok() const { return error_.is_ok(); }
  bool at_op(std::string_view op) const { return current().kind == TokenKind::op && current().text == op; }
  bool at_name(std::string_view name) const { return current().kind == TokenKind::name && current().text == name; }
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_op(std::string_view op);
  void expect(TokenKind kind, const char* what);
  std::string expect_name();
  NodePtr fail(const std::string& reason, int line = 0, StatusCode code = StatusCode::bad_file);
  std::string described() const;  // the current token, for messages

  int symbol(std::string_view name);
  NodePtr make(NodeKind kind, int line) const;
  NodePtr sealed(NodePtr node);  // computes the height and rejects trees that are too deep

  // Statements: statements.cpp.
  Body parse_body(Names end_names);
  Body parse_block_body(Names end_names);  // called after the tag's own expressions: reads its end, then statements
  void parse_statement(Body& body);
  NodePtr parse_for();
  NodePtr parse_if();
  NodePtr parse_set();
  NodePtr parse_macro();
  NodePtr parse_call_block();
  NodePtr parse_filter_block();
  NodePtr parse_with();
  NodePtr parse_print();
  NodePtr parse_loop_control(NodeKind kind);
  void parse_signature(Signature& signature);
  Body parse_macro_body(Signature& signature, std::string_view end_name);
  NodePtr parse_target(bool with_namespace, std::string_view end_name = {});
  NodePtr parse_single_target(bool with_namespace);

  // Expressions: expressions.cpp.
  NodePtr parse_tuple(bool with_condition, std::string_view end_name = {}, bool in_parentheses = false);
  NodePtr parse_expression(bool with_condition = true);
  NodePtr parse_binary(int level);
  NodePtr parse_unary(bool with_filters);
  NodePtr parse_primary();
  NodePtr parse_name_or_constant();
  NodePtr parse_list();
  NodePtr parse_dict();
  NodePtr parse_postfix(NodePtr node);
  NodePtr parse_filters_and_tests(NodePtr node);
  NodePtr parse_subscript(NodePtr object);
  NodePtr parse_call(NodePtr callee);
  NodePtr parse_filter(NodePtr input);
  NodePtr parse_test(NodePtr input);
  std::unique_ptr<CallParts> parse_call_parts();
  int operator_level(Operator& op, int& num_tokens) const;

  // Recursion depth, so that no template can exhaust the stack.
  struct Nest {
    explicit Nest(Parser& parser);
    ~Nest() { --parser.depth_; }
    Parser& parser;
  };

  std::vector<Token> tokens_;
  Tree& tree_;
  size_t position_ = 0;
  Status error_;
  int depth_ = 0;
  int num_loops_ = 0;  // loops around the current statement, within the current macro
  std::unordered_map<std::string, int> symbols_;
  size_t num_caller_uses_ = 0, num_kwargs_uses_ = 0, num_varargs_uses_ = 0;
};

}  // namespace pagoda::text::jinja

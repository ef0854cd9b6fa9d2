// The syntax tree of a template. Immutable after parsing; concurrent renderings may share it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/jinja/filters/filters.h"
#include "text/jinja/parse/lexer.h"
#include "text/jinja/value/operations.h"

namespace pagoda::text::jinja {

struct Node;
using NodePtr = std::unique_ptr<Node>;
using Body = std::vector<NodePtr>;

enum class NodeKind : uint8_t {
  // Expressions: use of `children` and the other fields.
  constant,  // value
  name,      // symbol
  list,
  tuple,      // children: items
  dict,       // children: key, value, key, value, ...
  attribute,  // children: object; text
  item,       // children: object, key
  slice,      // children: object, start, stop, step; the last three may be null
  call,       // children: callee; call
  filter,     // children: input, null for a block's filter; text, filter, call
  test,       // children: input; text, test, call
  minus,
  plus,
  logical_not,  // children: operand
  logical_and,
  logical_or,     // children: operands, two or more
  conditional,    // children: value, condition, otherwise (may be null)
  compare,        // children: n + 1 operands; operators: n
  arithmetic,     // children: n + 1 operands, folded from the left; operators: n
  concat,         // children: operands of ~
  namespace_ref,  // target only: symbol, text
  // Statements.
  data,          // value: text between tags
  output,        // children: expressions to print
  assign,        // children: target, value
  assign_block,  // children: target, filter (may be null); bodies[0]
  for_loop,      // children: target, iterable, condition (may be null); bodies: loop, else; recursive
  if_else,       // children: conditions; bodies: one each, plus one for else
  macro,         // symbol, text, signature; bodies[0]
  call_block,    // children: call; signature; bodies[0]
  filter_block,  // children: filter; bodies[0]
  with,          // children: target, value, target, value, ...; bodies[0]
  generation,    // bodies[0]
  break_loop,
  continue_loop,
};

struct CallParts {
  std::vector<NodePtr> positional;
  std::vector<std::pair<std::string, NodePtr>> named;
  NodePtr star, double_star;  // *args and **kwargs
};

struct Signature {
  std::vector<int> symbols;
  std::vector<std::string> names;
  std::vector<NodePtr> defaults;  // one per parameter, null if it has none
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;
};

struct Node {
  NodeKind kind = NodeKind::constant;
  int line = 0;
  int height = 1;  // of the subtree, limited by the parser
  int symbol = -1;
  bool recursive = false;
  std::string text;
  Value value;
  std::vector<NodePtr> children;
  std::vector<Operator> operators;
  Filter filter = nullptr;
  Test test = nullptr;
  std::unique_ptr<CallParts> call;
  std::unique_ptr<Signature> signature;
  std::vector<Body> bodies;
};

struct Tree {
  std::string file_name;
  Body body;
  std::vector<std::string> names;                // by symbol
  std::map<std::string, std::string> constants;  // trusted globals
  int loop_symbol = -1, caller_symbol = -1, kwargs_symbol = -1, varargs_symbol = -1;
};

// Errors: bad_file, or unsupported for jinja2 tags and filters that chat templates do not need.
Status parse_tree(std::vector<Token> tokens, Tree& tree);

}  // namespace pagoda::text::jinja

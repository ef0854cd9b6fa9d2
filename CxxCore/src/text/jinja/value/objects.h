// Attributes, items and methods of values in the chat-template sandbox: only namespaces can be modified.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/arguments.h"
#include "text/jinja/runtime.h"

namespace pagoda::text::jinja {

struct Node;
struct Scope;

struct Function : Object {
  enum class Form : uint8_t { macro, method, global };
  Form form = Form::global;
  std::string name;             // method or global
  Value self;                   // only for a method
  const Node* macro = nullptr;  // only for a macro or a call block
  Scope* scope = nullptr;       // where the macro was defined

  Value attribute(std::string_view attribute_name) override;
};

// jinja2's object.name and object[key]: each falls back to the other; undefined if both fail.
Value get_attribute(Runtime& runtime, const Value& object, std::string_view name);
Value get_item(Runtime& runtime, const Value& object, const Value& key);

bool has_method(const Value& object, std::string_view name);
Value call_method(Runtime& runtime, const Value& object, std::string_view name, const Arguments& arguments);

// An attribute path as filters accept it: "a.b.0", an integer, or none.
Value get_path(Runtime& runtime, const Value& object, const Value& path, const Value& absent = {});

}  // namespace pagoda::text::jinja

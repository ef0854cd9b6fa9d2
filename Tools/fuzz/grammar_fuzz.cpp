// Fuzzes the compilers of constraints: any text gives a grammar or an error, within the limits, and the grammar can be
// walked. A text that starts with '{' is a schema, of an answer and of a call's arguments; others are GBNF or a regular
// expression.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "grammar/automaton.h"
#include "grammar/compile.h"

namespace {

using namespace pagoda;

// Every incomplete state has a successor: there are no dead ends.
void walk(const GrammarSpec& spec) {
  auto compiled = grammar::compile(spec);
  if (!compiled.is_ok()) return;
  grammar::Automaton automaton(std::make_shared<const grammar::Grammar>(std::move(*compiled)));
  int32_t at = automaton.start();
  for (size_t step = 0; step < 200 && !automaton.is_exhausted(); ++step) {
    if (!automaton.can_continue(at)) return automaton.is_complete(at) ? void() : __builtin_trap();
    int32_t next = grammar::Automaton::kDead;
    for (size_t i = 0; i < 256 && next == grammar::Automaton::kDead; ++i)
      next = automaton.next(at, static_cast<uint8_t>(i + step * 31 + spec.schema.size()));
    if (automaton.is_exhausted()) return;
    if (next == grammar::Automaton::kDead) __builtin_trap();
    at = next;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  walk({GrammarKind::json_schema, text});
  if (text.starts_with('{')) {
    walk({GrammarKind::tool_calls,
          R"({"format":"xml","mode":"required","tools":[{"name":"f","strict":true,"parameters":)" + text + "}]}"});
  } else {
    walk({GrammarKind::regex, text});
    walk({GrammarKind::gbnf, text});
  }
  return 0;
}

// Fuzzes the schema compiler: any text gives a grammar or an error, within the limits, and the grammar can be walked.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "grammar/automaton.h"
#include "grammar/compile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda;
  auto compiled = grammar::compile({"json_schema", std::string(reinterpret_cast<const char*>(data), size)});
  if (!compiled.is_ok()) return 0;
  grammar::Automaton automaton(std::make_shared<const grammar::Grammar>(std::move(*compiled)));
  int32_t at = automaton.start();
  // Every incomplete state has a successor: there are no dead ends.
  for (size_t step = 0; step < 200; ++step) {
    if (!automaton.can_continue(at)) return automaton.is_complete(at) ? 0 : (__builtin_trap(), 0);
    int32_t next = grammar::Automaton::kDead;
    for (size_t i = 0; i < 256 && next == grammar::Automaton::kDead; ++i)
      next = automaton.next(at, static_cast<uint8_t>(i + step * 31 + size));
    if (next == grammar::Automaton::kDead) __builtin_trap();
    at = next;
  }
  return 0;
}

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/grammar/grammar_builder.cpp"
#include "../../src/grammar/grammar_cache.cpp"
#include "../../src/grammar/guard.cpp"
#include "../../src/grammar/parameter_text.cpp"
#include "../../src/grammar/text_grammar.cpp"
#include "../../src/grammar/tool_calls.cpp"

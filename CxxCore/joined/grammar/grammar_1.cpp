// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/grammar/automaton.cpp"
#include "../../src/grammar/characters.cpp"
#include "../../src/grammar/compile.cpp"
#include "../../src/grammar/compile_budget.cpp"
#include "../../src/grammar/free_text.cpp"
#include "../../src/grammar/gbnf.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/grammar/pattern/guarded.cpp"
#include "../../src/grammar/pattern/parser.cpp"
#include "../../src/grammar/pattern/pattern.cpp"

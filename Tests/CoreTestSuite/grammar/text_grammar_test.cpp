// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/grammar/text_grammar_test.cpp"

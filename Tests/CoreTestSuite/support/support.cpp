// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/support/grammar_kit.cpp"
#include "../../CxxCoreTests/support/test.cpp"
#include "../../CxxCoreTests/support/tokenizer_fixtures.cpp"

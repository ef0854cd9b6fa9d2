// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/text/output/parser_test.cpp"

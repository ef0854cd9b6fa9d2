// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/grammar/tool_calls_test.cpp"

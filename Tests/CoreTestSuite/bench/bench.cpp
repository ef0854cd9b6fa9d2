// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/bench/limits_test.cpp"
#include "../../CxxCoreTests/bench/speculation_test.cpp"

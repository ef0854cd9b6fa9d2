// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/speculate/policy_memory_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/speculate/policy_launches_test.cpp"

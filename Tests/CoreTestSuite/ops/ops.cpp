// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/ops/ops_test.cpp"

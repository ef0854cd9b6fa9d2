// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/rows/mixed_requests_test.cpp"

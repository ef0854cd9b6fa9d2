// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/prefix/prefix_exchange_test.cpp"

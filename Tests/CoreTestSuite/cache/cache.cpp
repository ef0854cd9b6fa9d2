// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/cache/cache_test.cpp"
#include "../../CxxCoreTests/cache/prefix_index_test.cpp"

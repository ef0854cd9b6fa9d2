// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/prefix/host_cache_test.cpp"

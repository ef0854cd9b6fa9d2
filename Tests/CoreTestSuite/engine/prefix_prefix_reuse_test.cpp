// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/prefix/prefix_reuse_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/prefix/prefix_writing_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/experts_test.cpp"

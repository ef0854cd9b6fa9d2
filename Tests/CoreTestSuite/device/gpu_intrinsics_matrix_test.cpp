// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/gpu/intrinsics_matrix_test.cpp"

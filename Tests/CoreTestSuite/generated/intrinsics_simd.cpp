// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/generated/intrinsics_simd.cpp"

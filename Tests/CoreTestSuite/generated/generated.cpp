// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/generated/defects_source.cpp"
#include "../../CxxCoreTests/generated/intrinsics_math_source.cpp"
#include "../../CxxCoreTests/generated/intrinsics_matrix_source.cpp"
#include "../../CxxCoreTests/generated/intrinsics_simd_source.cpp"

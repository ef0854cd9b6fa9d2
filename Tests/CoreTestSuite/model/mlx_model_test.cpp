// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/mlx_model_test.cpp"

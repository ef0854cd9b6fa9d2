// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/gpu/cuda/cuda_backend_test.cpp"
#include "../../CxxCoreTests/device/gpu/cuda/cuda_compiler_test.cpp"
#include "../../CxxCoreTests/device/gpu/cuda/cuda_graphs_test.cpp"
#include "../../CxxCoreTests/device/gpu/cuda/fake_cuda.cpp"

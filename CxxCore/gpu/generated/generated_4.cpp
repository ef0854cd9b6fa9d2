// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/layer_norm_source.cpp"
#include "../../src/device/gpu/generated/matmul_f32_source.cpp"
#include "../../src/device/gpu/generated/matmul_few_source.cpp"
#include "../../src/device/gpu/generated/matmul_rows_source.cpp"
#include "../../src/device/gpu/generated/matmul_scalar_source.cpp"
#include "../../src/device/gpu/generated/matmul_tensor_source.cpp"
#include "../../src/device/gpu/generated/matmul_tiles_source.cpp"

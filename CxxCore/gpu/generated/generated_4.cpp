// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/matmul_scalar_source.cpp"
#include "../../src/device/gpu/generated/matmul_tensor_source.cpp"
#include "../../src/device/gpu/generated/matmul_tiles_source.cpp"
#include "../../src/device/gpu/generated/matmul_wide_source.cpp"
#include "../../src/device/gpu/generated/paged_attention_source.cpp"
#include "../../src/device/gpu/generated/qk_norm_rope_source.cpp"
#include "../../src/device/gpu/generated/reshape_and_cache_source.cpp"
#include "../../src/device/gpu/generated/rms_norm_source.cpp"

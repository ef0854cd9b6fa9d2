// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/expert_few_source.cpp"
#include "../../src/device/gpu/generated/expert_many_source.cpp"
#include "../../src/device/gpu/generated/expert_matmul_source.cpp"
#include "../../src/device/gpu/generated/expert_scalar_source.cpp"
#include "../../src/device/gpu/generated/expert_tiles_source.cpp"
#include "../../src/device/gpu/generated/full_attention_source.cpp"
#include "../../src/device/gpu/generated/gated_rms_norm_source.cpp"

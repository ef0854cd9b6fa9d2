// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/gdn_prepare_source.cpp"
#include "../../src/device/gpu/generated/gelu_source.cpp"
#include "../../src/device/gpu/generated/kda_source.cpp"
#include "../../src/device/gpu/generated/latent_attention_source.cpp"
#include "../../src/device/gpu/generated/layer_norm_source.cpp"
#include "../../src/device/gpu/generated/matmul_f32_source.cpp"
#include "../../src/device/gpu/generated/matmul_few_source.cpp"
#include "../../src/device/gpu/generated/matmul_rows_source.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/expert_matmul_source.cpp"
#include "../../src/device/gpu/generated/expert_scalar_source.cpp"
#include "../../src/device/gpu/generated/expert_tiles_source.cpp"
#include "../../src/device/gpu/generated/full_attention_source.cpp"
#include "../../src/device/gpu/generated/gated_rms_norm_source.cpp"
#include "../../src/device/gpu/generated/gather_rows_source.cpp"
#include "../../src/device/gpu/generated/gdn_decode_source.cpp"
#include "../../src/device/gpu/generated/gdn_prefill_source.cpp"

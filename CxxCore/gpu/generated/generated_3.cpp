// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/gather_rows_source.cpp"
#include "../../src/device/gpu/generated/gdn_decode_source.cpp"
#include "../../src/device/gpu/generated/gdn_prefill_source.cpp"
#include "../../src/device/gpu/generated/gdn_prepare_source.cpp"
#include "../../src/device/gpu/generated/gelu_source.cpp"
#include "../../src/device/gpu/generated/kda_source.cpp"
#include "../../src/device/gpu/generated/latent_attention_source.cpp"

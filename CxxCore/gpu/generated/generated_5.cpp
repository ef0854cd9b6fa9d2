// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/rope_and_cache_source.cpp"
#include "../../src/device/gpu/generated/route_experts_source.cpp"
#include "../../src/device/gpu/generated/sample_scores_source.cpp"
#include "../../src/device/gpu/generated/sample_source.cpp"
#include "../../src/device/gpu/generated/sample_whole_source.cpp"
#include "../../src/device/gpu/generated/sigmoid_gate_source.cpp"
#include "../../src/device/gpu/generated/slots_source.cpp"
#include "../../src/device/gpu/generated/token_attention_source.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/adapters_source.cpp"
#include "../../src/device/gpu/generated/argmax_source.cpp"
#include "../../src/device/gpu/generated/cache_latents_source.cpp"
#include "../../src/device/gpu/generated/causal_conv1d_source.cpp"
#include "../../src/device/gpu/generated/combine_experts_source.cpp"
#include "../../src/device/gpu/generated/embedding_source.cpp"
#include "../../src/device/gpu/generated/expert_few_source.cpp"
#include "../../src/device/gpu/generated/expert_many_source.cpp"

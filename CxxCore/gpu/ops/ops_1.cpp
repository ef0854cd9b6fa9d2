// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/ops/adapters.cpp"
#include "../../src/device/gpu/ops/argmax.cpp"
#include "../../src/device/gpu/ops/cache_latents.cpp"
#include "../../src/device/gpu/ops/causal_conv1d.cpp"
#include "../../src/device/gpu/ops/combine_experts.cpp"
#include "../../src/device/gpu/ops/embedding.cpp"

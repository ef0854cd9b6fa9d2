// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/cpu/ops/adapters.cpp"
#include "../../src/device/cpu/ops/block_attention.cpp"
#include "../../src/device/cpu/ops/cache_latents.cpp"
#include "../../src/device/cpu/ops/causal_conv1d.cpp"
#include "../../src/device/cpu/ops/combine_experts.cpp"
#include "../../src/device/cpu/ops/copy_slot.cpp"

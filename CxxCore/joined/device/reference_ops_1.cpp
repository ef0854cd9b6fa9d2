// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/reference/ops/adapters.cpp"
#include "../../src/device/reference/ops/cache_latents.cpp"
#include "../../src/device/reference/ops/causal_conv1d.cpp"
#include "../../src/device/reference/ops/combine_experts.cpp"
#include "../../src/device/reference/ops/copy_slot.cpp"
#include "../../src/device/reference/ops/embedding.cpp"
#include "../../src/device/reference/ops/expert_matmul.cpp"
#include "../../src/device/reference/ops/gated_rms_norm.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/ops/latent_attention.cpp"
#include "../../src/device/gpu/ops/layer_norm.cpp"
#include "../../src/device/gpu/ops/matmul.cpp"
#include "../../src/device/gpu/ops/matmul_tensor.cpp"
#include "../../src/device/gpu/ops/matmul_wide.cpp"
#include "../../src/device/gpu/ops/qk_norm_rope.cpp"
#include "../../src/device/gpu/ops/reshape_and_cache.cpp"

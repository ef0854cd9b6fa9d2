// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/cpu/ops/kda.cpp"
#include "../../src/device/cpu/ops/latent_attention.cpp"
#include "../../src/device/cpu/ops/matmul.cpp"
#include "../../src/device/cpu/ops/ngrams.cpp"
#include "../../src/device/cpu/ops/paged_attention.cpp"
#include "../../src/device/cpu/ops/qk_norm_rope.cpp"

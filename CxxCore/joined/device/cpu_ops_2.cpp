// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/cpu/ops/gated_rms_norm.cpp"
#include "../../src/device/cpu/ops/gather_rows.cpp"
#include "../../src/device/cpu/ops/gdn.cpp"
#include "../../src/device/cpu/ops/gelu.cpp"
#include "../../src/device/cpu/ops/kda.cpp"
#include "../../src/device/cpu/ops/latent_attention.cpp"
#include "../../src/device/cpu/ops/matmul.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/ops/expert_matmul.cpp"
#include "../../src/device/gpu/ops/full_attention.cpp"
#include "../../src/device/gpu/ops/gated_rms_norm.cpp"
#include "../../src/device/gpu/ops/gather_rows.cpp"
#include "../../src/device/gpu/ops/gdn.cpp"
#include "../../src/device/gpu/ops/gelu.cpp"
#include "../../src/device/gpu/ops/kda.cpp"

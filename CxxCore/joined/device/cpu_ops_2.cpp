// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/cpu/ops/embedding.cpp"
#include "../../src/device/cpu/ops/expert_matmul.cpp"
#include "../../src/device/cpu/ops/gated_rms_norm.cpp"
#include "../../src/device/cpu/ops/gather_rows.cpp"
#include "../../src/device/cpu/ops/gdn.cpp"
#include "../../src/device/cpu/ops/gelu.cpp"
#include "../../src/device/cpu/ops/index_keys.cpp"

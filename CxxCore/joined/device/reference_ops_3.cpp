// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/reference/ops/qk_norm_rope.cpp"
#include "../../src/device/reference/ops/reshape_and_cache.cpp"
#include "../../src/device/reference/ops/rms_norm.cpp"
#include "../../src/device/reference/ops/route_experts.cpp"
#include "../../src/device/reference/ops/sigmoid_gate.cpp"
#include "../../src/device/reference/ops/streams.cpp"
#include "../../src/device/reference/ops/vision.cpp"
#include "../../src/device/reference/ops/zero_slots.cpp"

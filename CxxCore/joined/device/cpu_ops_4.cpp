// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/cpu/ops/reshape_and_cache.cpp"
#include "../../src/device/cpu/ops/rms_norm.cpp"
#include "../../src/device/cpu/ops/route_experts.cpp"
#include "../../src/device/cpu/ops/sigmoid_gate.cpp"
#include "../../src/device/cpu/ops/streams.cpp"
#include "../../src/device/cpu/ops/vision.cpp"
#include "../../src/device/cpu/ops/zero_slots.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/ops/rms_norm.cpp"
#include "../../src/device/gpu/ops/rope_and_cache.cpp"
#include "../../src/device/gpu/ops/route_experts.cpp"
#include "../../src/device/gpu/ops/sample.cpp"
#include "../../src/device/gpu/ops/sigmoid_gate.cpp"
#include "../../src/device/gpu/ops/slots.cpp"
#include "../../src/device/gpu/ops/waiting.cpp"

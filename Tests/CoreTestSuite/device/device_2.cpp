// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/conformance_vision_test.cpp"
#include "../../CxxCoreTests/device/device_test.cpp"
#include "../../CxxCoreTests/device/expert_checks_test.cpp"
#include "../../CxxCoreTests/device/invariance_attention_test.cpp"
#include "../../CxxCoreTests/device/invariance_matmul_test.cpp"
#include "../../CxxCoreTests/device/invariance_test.cpp"
#include "../../CxxCoreTests/device/kda_test.cpp"

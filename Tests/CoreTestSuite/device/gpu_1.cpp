// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/gpu/code_cache_test.cpp"
#include "../../CxxCoreTests/device/gpu/counting_test.cpp"
#include "../../CxxCoreTests/device/gpu/defects_test.cpp"
#include "../../CxxCoreTests/device/gpu/fusion_test.cpp"
#include "../../CxxCoreTests/device/gpu/gpu_device_test.cpp"
#include "../../CxxCoreTests/device/gpu/hazards_test.cpp"

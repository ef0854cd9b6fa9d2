// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/auto_device_test.cpp"
#include "../../CxxCoreTests/device/block_attention_test.cpp"
#include "../../CxxCoreTests/device/conformance.cpp"
#include "../../CxxCoreTests/device/conformance_attention_test.cpp"
#include "../../CxxCoreTests/device/conformance_matmul_test.cpp"
#include "../../CxxCoreTests/device/conformance_recurrent_test.cpp"
#include "../../CxxCoreTests/device/conformance_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/gpu/logits/argmax_test.cpp"
#include "../../CxxCoreTests/device/gpu/logits/sample_bounds_test.cpp"
#include "../../CxxCoreTests/device/gpu/logits/sample_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/invariance_vision_test.cpp"

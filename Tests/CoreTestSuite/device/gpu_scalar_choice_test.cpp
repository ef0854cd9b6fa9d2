// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/gpu/scalar_choice_test.cpp"

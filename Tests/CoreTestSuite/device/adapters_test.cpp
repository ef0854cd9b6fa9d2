// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/adapters_test.cpp"

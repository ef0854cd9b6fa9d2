// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/expert_store_test.cpp"

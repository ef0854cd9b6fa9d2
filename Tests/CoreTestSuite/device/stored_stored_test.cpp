// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/stored/stored_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/host/host_memory.cpp"

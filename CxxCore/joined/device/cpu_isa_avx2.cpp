// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/cpu/isa/avx2.cpp"

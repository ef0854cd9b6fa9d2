// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/software/software_backend.cpp"

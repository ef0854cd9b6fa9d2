// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/gdn_decode.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/cache_latents.cpp"

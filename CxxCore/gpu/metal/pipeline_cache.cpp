// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/metal/pipeline_cache.cpp"

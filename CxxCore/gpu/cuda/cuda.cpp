// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/cuda/code_cache.cpp"
#include "../../src/device/gpu/cuda/compiler.cpp"
#include "../../src/device/gpu/cuda/cuda_backend.cpp"
#include "../../src/device/gpu/cuda/cuda_device.cpp"
#include "../../src/device/gpu/cuda/cuda_memory.cpp"
#include "../../src/device/gpu/cuda/staging.cpp"
#include "../../src/device/gpu/cuda/step_graphs.cpp"

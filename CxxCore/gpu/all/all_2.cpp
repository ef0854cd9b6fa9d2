// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/kernel_table.cpp"
#include "../../src/device/gpu/kernels_version.cpp"
#include "../../src/device/gpu/launch_checks.cpp"
#include "../../src/device/gpu/row_maker.cpp"
#include "../../src/device/gpu/scratch.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/weights/gpu_weight.cpp"
#include "../../src/device/gpu/weights/host_staging.cpp"
#include "../../src/device/gpu/weights/row_packer.cpp"
#include "../../src/device/gpu/weights/stored_form.cpp"
#include "../../src/device/gpu/weights/weight_loader.cpp"

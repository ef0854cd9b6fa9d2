// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/cpu/stored/float8_product.cpp"
#include "../../src/device/cpu/stored/stored_weight.cpp"
#include "../../src/device/cpu/stored/streamed_experts.cpp"

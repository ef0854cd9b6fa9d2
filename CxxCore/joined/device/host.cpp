// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/host/expert_store.cpp"
#include "../../src/device/host/host_weight.cpp"
#include "../../src/device/host/index_checks.cpp"
#include "../../src/device/host/quantise.cpp"
#include "../../src/device/host/row_tasks.cpp"

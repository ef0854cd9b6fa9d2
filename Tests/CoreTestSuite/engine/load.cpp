// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/load/device_support_test.cpp"
#include "../../CxxCoreTests/engine/load/expert_memory_test.cpp"
#include "../../CxxCoreTests/engine/load/load_refusals_test.cpp"
#include "../../CxxCoreTests/engine/load/load_report_test.cpp"
#include "../../CxxCoreTests/engine/load/loader_test.cpp"
#include "../../CxxCoreTests/engine/load/memory_plan_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/scheduler/scheduler_test.cpp"
#include "../../CxxCoreTests/scheduler/step_budget_test.cpp"
#include "../../CxxCoreTests/scheduler/waiting_test.cpp"

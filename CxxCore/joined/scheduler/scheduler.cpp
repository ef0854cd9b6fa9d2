// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/scheduler/fair_queue.cpp"
#include "../../src/scheduler/forecast.cpp"
#include "../../src/scheduler/scheduler.cpp"
#include "../../src/scheduler/step_budget.cpp"
#include "../../src/scheduler/waiting.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/load/memory_plan.cpp"
#include "../../src/engine/load/pipeline_plan.cpp"
#include "../../src/engine/load/policy_file.cpp"
#include "../../src/engine/load/vision.cpp"
#include "../../src/engine/load/weight_facts.cpp"

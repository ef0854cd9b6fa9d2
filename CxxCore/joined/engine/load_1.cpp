// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/load/expert_plan.cpp"
#include "../../src/engine/load/fingerprint.cpp"
#include "../../src/engine/load/loader.cpp"
#include "../../src/engine/load/lora.cpp"
#include "../../src/engine/load/memory_plan.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/speculate/lookup_index.cpp"
#include "../../src/speculate/past_texts.cpp"
#include "../../src/speculate/policy.cpp"
#include "../../src/speculate/policy_memory.cpp"
#include "../../src/speculate/step_costs.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/speculate/lookup_index_test.cpp"
#include "../../CxxCoreTests/speculate/past_texts_test.cpp"
#include "../../CxxCoreTests/speculate/policy_test.cpp"

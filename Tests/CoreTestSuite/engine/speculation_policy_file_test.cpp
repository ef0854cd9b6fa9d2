// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/speculation/policy_file_test.cpp"

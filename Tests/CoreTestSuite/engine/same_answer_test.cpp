// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/same_answer_test.cpp"

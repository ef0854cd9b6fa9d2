// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/preemption_test.cpp"

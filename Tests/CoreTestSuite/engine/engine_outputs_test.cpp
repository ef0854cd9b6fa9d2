// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/engine_outputs_test.cpp"

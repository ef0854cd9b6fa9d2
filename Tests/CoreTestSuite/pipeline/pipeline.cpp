// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/pipeline/pipeline_test.cpp"

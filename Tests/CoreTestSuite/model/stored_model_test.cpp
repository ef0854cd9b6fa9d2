// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/stored_model_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/weight_formats_test.cpp"

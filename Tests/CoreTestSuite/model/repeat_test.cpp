// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/repeat_test.cpp"

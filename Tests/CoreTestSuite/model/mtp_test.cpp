// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/mtp_test.cpp"

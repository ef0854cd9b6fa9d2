// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/rows/owner_rows_test.cpp"

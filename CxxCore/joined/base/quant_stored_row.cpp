// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/base/quant/stored_row.cpp"

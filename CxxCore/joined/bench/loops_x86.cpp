// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/bench/loops_x86.cpp"

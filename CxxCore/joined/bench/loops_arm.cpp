// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/bench/loops_arm.cpp"

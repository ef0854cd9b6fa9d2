// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/bench/device_limits.cpp"
#include "../../src/bench/loops.cpp"
#include "../../src/bench/speculation.cpp"

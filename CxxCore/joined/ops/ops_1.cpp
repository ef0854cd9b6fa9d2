// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/ops/adapters.cpp"
#include "../../src/ops/argmax.cpp"
#include "../../src/ops/attention.cpp"
#include "../../src/ops/check.cpp"
#include "../../src/ops/experts.cpp"

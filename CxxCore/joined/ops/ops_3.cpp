// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/ops/norms.cpp"
#include "../../src/ops/recurrent.cpp"
#include "../../src/ops/rows.cpp"
#include "../../src/ops/sample.cpp"
#include "../../src/ops/streams.cpp"
#include "../../src/ops/vision.cpp"

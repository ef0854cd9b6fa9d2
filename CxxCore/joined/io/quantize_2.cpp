// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/quantize/integers.cpp"
#include "../../src/io/quantize/mixture.cpp"
#include "../../src/io/quantize/plan.cpp"
#include "../../src/io/quantize/quantizer.cpp"
#include "../../src/io/quantize/stored.cpp"

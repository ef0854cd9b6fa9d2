// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/quantize/packed_decoder.cpp"

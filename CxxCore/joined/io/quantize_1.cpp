// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/quantize/affine.cpp"
#include "../../src/io/quantize/copied_config.cpp"
#include "../../src/io/quantize/files.cpp"
#include "../../src/io/quantize/integer_decoder.cpp"

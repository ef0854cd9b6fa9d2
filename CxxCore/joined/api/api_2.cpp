// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/api/image_decoder.cpp"
#include "../../src/api/output_parser.cpp"
#include "../../src/api/quantize.cpp"
#include "../../src/api/stage.cpp"
#include "../../src/api/tokenizer.cpp"

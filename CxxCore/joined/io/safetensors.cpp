// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/safetensors/safetensors.cpp"
#include "../../src/io/safetensors/writer.cpp"

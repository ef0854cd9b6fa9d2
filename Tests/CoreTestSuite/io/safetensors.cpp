// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/io/safetensors/safetensors_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/io/gguf/gguf_test.cpp"
#include "../../CxxCoreTests/io/gguf/stored_test.cpp"

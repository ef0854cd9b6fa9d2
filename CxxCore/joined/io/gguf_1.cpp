// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/gguf/config.cpp"
#include "../../src/io/gguf/families.cpp"
#include "../../src/io/gguf/files.cpp"
#include "../../src/io/gguf/gguf.cpp"

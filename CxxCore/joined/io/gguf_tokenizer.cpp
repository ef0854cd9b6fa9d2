// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/gguf/tokenizer.cpp"

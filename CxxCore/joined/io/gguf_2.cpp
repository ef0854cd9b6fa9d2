// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/gguf/names.cpp"
#include "../../src/io/gguf/sentencepiece.cpp"
#include "../../src/io/gguf/stored.cpp"
#include "../../src/io/gguf/streams.cpp"
#include "../../src/io/gguf/tensors.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/gguf/config.cpp"
#include "../../src/io/gguf/families.cpp"
#include "../../src/io/gguf/files.cpp"
#include "../../src/io/gguf/gguf.cpp"
#include "../../src/io/gguf/names.cpp"
#include "../../src/io/gguf/sentencepiece.cpp"
#include "../../src/io/gguf/stored.cpp"
#include "../../src/io/gguf/tensors.cpp"

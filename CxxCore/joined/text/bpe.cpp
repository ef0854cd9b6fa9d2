// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/bpe/encoder.cpp"
#include "../../src/text/bpe/tokenizer.cpp"
#include "../../src/text/bpe/vocabulary.cpp"

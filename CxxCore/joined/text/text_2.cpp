// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/pre_tokenizer.cpp"
#include "../../src/text/stop_strings.cpp"
#include "../../src/text/tokenizer_file.cpp"
#include "../../src/text/tokenizer_parts.cpp"
#include "../../src/text/unigram.cpp"
#include "../../src/text/word_patterns.cpp"

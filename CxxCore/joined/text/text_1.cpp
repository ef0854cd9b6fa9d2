// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/added_tokens.cpp"
#include "../../src/text/chat_messages.cpp"
#include "../../src/text/deepseek_words.cpp"
#include "../../src/text/detokenizer.cpp"
#include "../../src/text/normalizer.cpp"

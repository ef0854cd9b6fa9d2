// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/grammar/mask/plain_text.cpp"
#include "../../src/grammar/mask/token_grammar.cpp"
#include "../../src/grammar/mask/token_trie.cpp"
#include "../../src/grammar/mask/worker.cpp"

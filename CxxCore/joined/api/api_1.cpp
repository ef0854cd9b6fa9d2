// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/api/bench.cpp"
#include "../../src/api/chat_template.cpp"
#include "../../src/api/engine.cpp"
#include "../../src/api/grammar.cpp"
#include "../../src/api/image.cpp"

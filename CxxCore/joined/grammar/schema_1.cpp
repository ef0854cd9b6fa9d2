// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/grammar/schema/compiler.cpp"
#include "../../src/grammar/schema/counts.cpp"
#include "../../src/grammar/schema/keywords.cpp"
#include "../../src/grammar/schema/listed.cpp"
#include "../../src/grammar/schema/merge.cpp"

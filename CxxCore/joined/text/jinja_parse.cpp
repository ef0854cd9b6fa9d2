// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/jinja/parse/expressions.cpp"
#include "../../src/text/jinja/parse/lexer.cpp"
#include "../../src/text/jinja/parse/statements.cpp"

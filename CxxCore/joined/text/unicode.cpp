// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/unicode/unicode.cpp"

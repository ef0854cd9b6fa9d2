// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/jinja/value/arithmetic.cpp"
#include "../../src/text/jinja/value/case.cpp"
#include "../../src/text/jinja/value/format.cpp"
#include "../../src/text/jinja/value/objects.cpp"
#include "../../src/text/jinja/value/operations.cpp"
#include "../../src/text/jinja/value/print.cpp"
#include "../../src/text/jinja/value/string_methods.cpp"
#include "../../src/text/jinja/value/value.cpp"

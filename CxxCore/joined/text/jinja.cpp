// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/jinja/arguments.cpp"
#include "../../src/text/jinja/calls.cpp"
#include "../../src/text/jinja/evaluator.cpp"
#include "../../src/text/jinja/expressions.cpp"
#include "../../src/text/jinja/jinja.cpp"
#include "../../src/text/jinja/runtime.cpp"

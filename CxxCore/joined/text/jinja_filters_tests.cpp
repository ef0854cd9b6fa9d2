// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/jinja/filters/tests.cpp"

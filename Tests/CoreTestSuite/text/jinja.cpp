// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/text/jinja/errors_test.cpp"
#include "../../CxxCoreTests/text/jinja/limits_test.cpp"

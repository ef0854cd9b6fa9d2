// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/output/json_call.cpp"
#include "../../src/text/output/machine.cpp"
#include "../../src/text/output/parameter_kind.cpp"
#include "../../src/text/output/tool_list.cpp"

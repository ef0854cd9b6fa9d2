// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/text/output/xml_call.cpp"

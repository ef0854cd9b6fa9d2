// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/io/synthetic/files_test.cpp"
#include "../../CxxCoreTests/io/synthetic/text_test.cpp"

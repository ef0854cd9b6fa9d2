// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/model/qwen4_files_test.cpp"

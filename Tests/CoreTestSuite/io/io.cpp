// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/io/checkpoint_test.cpp"
#include "../../CxxCoreTests/io/model_files_test.cpp"

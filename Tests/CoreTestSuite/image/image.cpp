// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/image/decoders_test.cpp"
#include "../../CxxCoreTests/image/prepare_test.cpp"
#include "../../CxxCoreTests/image/preprocessor_test.cpp"

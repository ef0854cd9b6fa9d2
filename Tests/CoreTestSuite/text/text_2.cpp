// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/text/stop_strings_test.cpp"
#include "../../CxxCoreTests/text/tokenizer_file_test.cpp"
#include "../../CxxCoreTests/text/tokenizer_reference_test.cpp"
#include "../../CxxCoreTests/text/tokenizer_test.cpp"
#include "../../CxxCoreTests/text/unicode_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/base/base_test.cpp"
#include "../../CxxCoreTests/base/json_test.cpp"
#include "../../CxxCoreTests/base/ngram_hash_test.cpp"
#include "../../CxxCoreTests/base/threads_test.cpp"

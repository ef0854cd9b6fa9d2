// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/grammar/grammar_documents_test.cpp"
#include "../../CxxCoreTests/grammar/grammar_limits_test.cpp"
#include "../../CxxCoreTests/grammar/grammar_schema_test.cpp"
#include "../../CxxCoreTests/grammar/parameters_test.cpp"

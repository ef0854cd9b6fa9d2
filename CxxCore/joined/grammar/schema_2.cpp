// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/grammar/schema/merged_schema.cpp"
#include "../../src/grammar/schema/numbers.cpp"
#include "../../src/grammar/schema/parameters.cpp"
#include "../../src/grammar/schema/strings.cpp"
#include "../../src/grammar/schema/types.cpp"

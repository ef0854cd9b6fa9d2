// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/base/cache_folder.cpp"
#include "../../src/base/dtype.cpp"
#include "../../src/base/json.cpp"
#include "../../src/base/json_pointer.cpp"
#include "../../src/base/json_reader.cpp"
#include "../../src/base/json_writer.cpp"
#include "../../src/base/ngram_hash.cpp"
#include "../../src/base/schema_types.cpp"

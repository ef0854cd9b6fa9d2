// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/engine/prefix/disk_cache_sharing_test.cpp"
#include "../../CxxCoreTests/engine/prefix/disk_cache_test.cpp"
#include "../../CxxCoreTests/engine/prefix/find_prefix_test.cpp"
#include "../../CxxCoreTests/engine/prefix/kept_prefixes_test.cpp"
#include "../../CxxCoreTests/engine/prefix/prefix_cache_fuzz_test.cpp"
#include "../../CxxCoreTests/engine/prefix/prefix_reading_test.cpp"

// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/dry_breakers.cpp"
#include "../../src/engine/engine_calls.cpp"
#include "../../src/engine/engine_thread.cpp"
#include "../../src/engine/image_outputs.cpp"
#include "../../src/engine/saved_prefixes.cpp"
#include "../../src/engine/thinking.cpp"

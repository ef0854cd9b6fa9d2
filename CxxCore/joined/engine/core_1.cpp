// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/core/commit.cpp"
#include "../../src/engine/core/draft.cpp"
#include "../../src/engine/core/engine_core.cpp"
#include "../../src/engine/core/flights.cpp"
#include "../../src/engine/core/images.cpp"
#include "../../src/engine/core/kept_prefixes.cpp"
